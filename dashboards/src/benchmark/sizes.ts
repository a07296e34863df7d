/** Panel sizes: width in 24ths of the screen, height in grid rows. */
export const STAT = { height: 5 } as const;
export const HALF = { width: 12, height: 9 } as const;
export const THIRD = { width: 8, height: 8 } as const;
