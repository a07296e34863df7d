import { type Field, type FieldConfig, FieldType } from '@grafana/data';
import type { Unit } from '../../../../../core/run/statistic.ts';

/** Grafana's names of the units. */
export const GRAFANA_UNITS: Readonly<Record<Unit, string>> = {
  seconds: 's',
  tokens: 'short',
  ratio: 'percentunit',
  requests: 'short',
  requests_per_second: 'reqps',
  tokens_per_second: 'suffix: tokens/s',
  joules: 'joule',
  watts: 'watt',
  joules_per_token: 'suffix: J/token',
  cost_per_million_tokens: 'suffix: per million tokens',
};

export function field<T>(name: string, type: FieldType, values: readonly T[], config: FieldConfig = {}): Field<T> {
  return { name, type, values: [...values], config };
}

export function text(name: string, values: ReadonlyArray<string | null>, config: FieldConfig = {}): Field {
  return field(name, FieldType.string, values, config);
}

export function number(name: string, values: ReadonlyArray<number | null>, unit?: Unit): Field {
  return field(name, FieldType.number, values, unit ? { unit: GRAFANA_UNITS[unit] } : {});
}

/** Instants in RFC 3339; null where there is none. */
export function time(name: string, values: ReadonlyArray<string | null>): Field {
  return field(
    name,
    FieldType.time,
    values.map((value) => (value === null ? null : Date.parse(value)))
  );
}
