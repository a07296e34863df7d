const LEVELS = '▁▂▃▄▅▆▇█';

/** One character per value, scaled from 0 to the maximum; a space where unknown. */
export function sparkline(values: readonly (number | null)[]): string {
  const most = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  return values
    .map((value) => {
      if (value === null) return ' ';
      const level = most === 0 ? 0 : Math.round((value / most) * (LEVELS.length - 1));
      return LEVELS.charAt(Math.max(0, level));
    })
    .join('');
}
