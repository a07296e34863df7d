import * as grafana from '@grafana/grafana-foundation-sdk/units';

/** How a panel shows a quantity: Grafana's unit, and what the axis counts where that does not say it. */
export interface DisplayUnit {
  readonly unit: string;
  readonly axis?: string;
}

/** A plain number with thousands separators, as the viewer's language writes them: 29,951. */
export const COUNT = grafana.LocaleFormat;

/** With k, M, … before it, as Grafana scales a unit that it does not know. */
export const TOKENS_PER_SECOND: DisplayUnit = { unit: 'si:tok/s' };

/** What Grafana has a unit of its own for. */
const VALUE_UNITS: Readonly<Record<string, string>> = {
  seconds: grafana.Seconds,
  milliseconds: grafana.Milliseconds,
  microseconds: grafana.Microseconds,
  nanoseconds: grafana.Nanoseconds,
  minutes: grafana.Minutes,
  bytes: grafana.BytesIEC,
  mebibytes: grafana.Mebibytes,
  megabytes: grafana.Megabytes,
  gigabytes: grafana.Gigabytes,
  gigabytes_per_second: grafana.GigabytesPerSecond,
  bytes_per_second: grafana.BytesPerSecondIEC,
  ratio: grafana.PercentUnit,
  percent: grafana.Percent,
  watts: grafana.Watt,
  joules: grafana.Joule,
  celsius: grafana.Celsius,
};

/** Of a value as it stands, in the unit of the catalog. */
export function valueUnit(unit: string): DisplayUnit {
  const known = VALUE_UNITS[unit];
  if (known !== undefined) return { unit: known };
  if (unit === 'tokens_per_second') return TOKENS_PER_SECOND;
  return { unit: COUNT, axis: unit.replaceAll('_', ' ') };
}

/** Of a counter's increase per second. */
export function rateUnit(unit: string): DisplayUnit {
  if (unit === 'bytes') return { unit: grafana.BytesPerSecondIEC };
  if (unit === 'requests') return { unit: grafana.RequestsPerSecond };
  if (unit === 'tokens') return TOKENS_PER_SECOND;
  if (unit === 'joules') return { unit: grafana.Watt };
  if (unit === 'seconds') return { unit: COUNT, axis: 'seconds per second' };
  return { unit: grafana.CountsPerSecond, axis: `${unit.replaceAll('_', ' ')} per second` };
}
