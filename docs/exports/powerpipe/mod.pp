mod "plimsoll" {
  title       = "Plimsoll: storage right-sizing"
  description = "Controls over the recommendations of a Plimsoll run, read by DuckDB."
}

benchmark "storage" {
  title    = "Block storage"
  children = [
    control.nothing_given_up,
    control.proved,
    control.throttled,
    control.detached,
    control.measured,
  ]
}
