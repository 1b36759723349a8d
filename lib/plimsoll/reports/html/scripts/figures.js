// Figures as people read them, each with its unit; a figure that is not known is never a zero.

// Halves are rounded to the even digit, as the headline's are: one total never reads $114 above the table and $115 below.
const digits = (most, least = 0) =>
  new Intl.NumberFormat('en-US', { maximumFractionDigits: most, minimumFractionDigits: least, roundingMode: 'halfEven' });
const WHOLE = digits(0), TENTHS = digits(1), HUNDREDTHS = digits(2), CENTS = digits(2, 2);

const known = (value) => value !== null && value !== undefined;
const whole = (value) => (known(value) ? WHOLE.format(value) : 'not known');
const tenths = (value) => (known(value) ? (value >= 1000 ? WHOLE : TENTHS).format(value) : 'not known');

const hundredths = (value) => (known(value) ? (value >= 100 ? WHOLE : HUNDREDTHS).format(value) : 'not known');

const hours = (value) => `${tenths(value)} ${value === 1 ? 'hour' : 'hours'}`;

// An age as people say it.
function ageText(days) {
  if (!known(days)) return 'not known';
  if (days < 90) return `${whole(days)} ${days === 1 ? 'day' : 'days'}`;
  return days < 730 ? `${whole(Math.floor(days / 30.4))} months` : `${whole(Math.floor(days / 365.25))} years`;
}

// What a change does to the bill, in words: nothing saves less than nothing.
const changeOfBill = (saved) => (saved < 0 ? `costs ${usd(-saved)} a month more` : `saves ${usd(saved)} a month`);

function usd(value) {
  if (!known(value)) return 'no price known';
  const amount = Math.abs(value);
  return (value <= -0.005 ? '-$' : '$') + (amount >= 100 ? WHOLE : CENTS).format(amount);
}

function specText(spec) {
  if (!spec) return '';
  return [`${spec.type} ${whole(spec.size_gib)} GiB`,
    known(spec.iops) ? `${whole(spec.iops)} IOPS` : '',
    known(spec.throughput_mib_s) ? `${whole(spec.throughput_mib_s)} MiB/s` : ''].filter(Boolean).join(' ');
}

// What names a volume in an address: its id alone may be that of several.
const keyOf = (account, region, id) => `${account}/${region}/${id}`;
const sameSpec = (one, other) => specText(one) === specText(other);
const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
