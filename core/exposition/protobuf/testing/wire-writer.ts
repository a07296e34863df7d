/** Handwritten protobuf for tests: each function returns bytes. */
export const PROTOBUF = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';

export function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}

export const delimited = (content: readonly number[]): number[] => [...varint(content.length), ...content];
export const field = (number: number, wireType: number, content: readonly number[]): number[] => [
  ...varint(number * 8 + wireType),
  ...content,
];
export const varintField = (number: number, value: number): number[] => field(number, 0, varint(value));
export const doubleField = (number: number, value: number): number[] =>
  field(number, 1, [...new Uint8Array(Float64Array.of(value).buffer)]);
export const message = (number: number, ...fields: readonly (readonly number[])[]): number[] =>
  field(number, 2, delimited(fields.flat()));
export const text = (number: number, value: string): number[] =>
  field(number, 2, delimited([...new TextEncoder().encode(value)]));
