// The pictures of a volume.

const chartOf = () => null;

function redrawCharts() {}
