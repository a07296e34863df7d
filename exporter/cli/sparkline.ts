const LEVELS = '▁▂▃▄▅▆▇█';

/** Values as one character each, from 0 to the largest of them; what is not known is a space. */
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
