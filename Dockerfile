# Plimsoll's command line, without root. From a checkout:
#   docker build -t plimsoll .                                  with DuckDB, for query, diff and Parquet
#   docker build -t plimsoll --build-arg EXTRAS=google,sql .    with Google Cloud as well
FROM python:3.13-slim AS build
ARG EXTRAS=sql
COPY pyproject.toml README.md LICENSE /plimsoll/
COPY lib /plimsoll/lib
COPY benchmarks/measured /plimsoll/benchmarks/measured
COPY benchmarks/jobs /plimsoll/benchmarks/jobs
COPY benchmarks/learned /plimsoll/benchmarks/learned
RUN python -m venv /opt/plimsoll \
 && /opt/plimsoll/bin/pip install --no-cache-dir --disable-pip-version-check "/plimsoll${EXTRAS:+[$EXTRAS]}" \
 && /opt/plimsoll/bin/pip uninstall --yes --quiet pip

FROM python:3.13-slim
COPY --from=build /opt/plimsoll /opt/plimsoll
RUN useradd --uid 10001 --create-home plimsoll && install --directory --owner plimsoll /work
USER 10001
WORKDIR /work
ENV PATH=/opt/plimsoll/bin:$PATH PYTHONUNBUFFERED=1
# Runs are written to /work/plimsoll-runs: mount a folder there to keep them.
ENTRYPOINT ["plimsoll"]
CMD ["--help"]
