/** The bounds 1, 2, 5, 10, 20, 50, … that do not exceed `limit`: vLLM's grid of everything that counts tokens. */
export function oneTwoFiveBounds(limit: number): number[] {
  const bounds: number[] = [];
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power > limit) return bounds;
      bounds.push(digit * power);
    }
  }
}
