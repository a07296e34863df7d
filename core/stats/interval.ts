/** A confidence interval: both ends in the unit of the values. */
export type Interval = [low: number, high: number];

/** Intervals of several percentiles and of the mean. */
export interface Intervals {
  /** One per quantile requested. */
  quantiles: Interval[];
  mean: Interval;
}
