/** One line on a receiver that does not accept samples, which are sent again for `seconds`. */
export function delayText(reason: string, seconds: number): string {
  return `remote write: ${reason}; trying again for up to ${Math.max(1, Math.round(seconds))} s`;
}
