/** Panel sizes: width in 24ths of the screen, height in grid rows. */
export const TILE = { width: 3, height: 4 } as const;
export const HALF = { width: 12, height: 7 } as const;
export const THIRD = { width: 8, height: 7 } as const;
