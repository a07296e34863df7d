import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React from 'react';
import type { MeasureResponse } from '../../../../core/api/comparison.ts';
import { changeText, percentText, ABSENT } from '../../../../core/text/quantities.ts';
import { t } from '../../text.ts';

/** An axis of ratios B ÷ A, symmetric about no change on the logarithmic scale, on which doubling and halving are equally far. */
export interface EffectAxis {
  /** The largest ratio; the smallest is its reciprocal. */
  most: number;
  ticks: number[];
}

/** Changes for a person to read off, as shares of A. */
const STEPS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 9, 99];
/** Ends of intervals beyond this factor are cut off, so that one wide interval does not hide the others. */
const MAX_SHOWN = 2;
/** Effects that are all smaller do not fill the axis. */
const MIN_SHOWN = 0.01;
const ROOM = 1.15;
/** A tick nearer to the end than this share of the half axis has no place for its text. */
const TICK_ROOM = 0.85;

/** The axis for these effects: all estimates and margins are on it, and interval ends up to a factor of two. */
export function effectAxis(measures: ReadonlyArray<Pick<MeasureResponse, 'effect' | 'margin'>>): EffectAxis {
  const reaches = measures.flatMap(({ effect, margin }) => [
    2 * Math.log1p(margin),
    ...(effect === null
      ? []
      : [
          distance(effect.estimate),
          ...[effect.low, effect.high].map(distance).filter((reach) => reach <= Math.log(MAX_SHOWN)),
        ]),
  ]);
  const half = ROOM * Math.max(Math.log1p(MIN_SHOWN), ...reaches.filter(Number.isFinite));
  const step = STEPS.filter((change) => -Math.log(fall(change)) <= TICK_ROOM * half).at(-1);
  return { most: Math.exp(half), ticks: step === undefined ? [1] : [fall(step), 1, 1 + step] };
}

/** A fall by the same share as the rise; of rises to the double and more, the reciprocal. */
function fall(rise: number): number {
  return rise < 1 ? 1 - rise : 1 / (1 + rise);
}

function distance(ratio: number | null): number {
  return ratio === null ? Infinity : Math.abs(Math.log(ratio));
}

/** Where a ratio is on the axis, from 0 at the left end to 1 at the right one; beyond them where it is off the axis. */
export function placeOf({ most }: EffectAxis, ratio: number): number {
  return (Math.log(ratio) / Math.log(most) + 1) / 2;
}

type Effect = MeasureResponse['effect'];

/** The estimated change of B against A: `+12.3 %`. */
export function effectText(effect: Effect): string {
  return effect === null ? ABSENT : changeText(effect.estimate ?? Infinity);
}

/** Whether the runs leave everything open: there is an estimate, and no interval. */
function isOpen({ low, high }: NonNullable<Effect>): boolean {
  return low === 0 && high === null;
}

/** The interval of the change: `+8.1 % to +16 %`; absent where the runs leave everything open. */
export function intervalText(effect: Effect): string {
  if (effect === null || isOpen(effect)) {
    return ABSENT;
  }
  return `${changeText(effect.low ?? Infinity)} to ${changeText(effect.high ?? Infinity)}`;
}

export function marginText(margin: number): string {
  return `±${percentText(margin)}`;
}

const HEIGHT = 26;
const MIDDLE = HEIGHT / 2;
const CAP = 4;

/** The row of a forest plot: the estimate with its interval, above the margin as a band. */
export function EffectPlot({ measure, axis }: { measure: MeasureResponse; axis: EffectAxis }) {
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const { effect, margin, verdict } = measure;
  const [bandStart, bandEnd] = [placeOf(axis, 1 / (1 + margin)), placeOf(axis, 1 + margin)];
  const color = verdictColor(theme, verdict);
  return (
    <div className={styles.plot}>
      <svg width="100%" height={HEIGHT} role="img" aria-label={plotLabel(measure)}>
        <rect
          data-part="margin"
          x={share(bandStart)}
          width={share(bandEnd - bandStart)}
          height={HEIGHT}
          fill={theme.colors.text.secondary}
          fillOpacity={0.18}
        />
        <line x1="50%" x2="50%" y2={HEIGHT} stroke={theme.colors.text.secondary} />
        {effect && <Interval effect={effect} axis={axis} color={color} />}
      </svg>
    </div>
  );
}

interface IntervalProps {
  effect: NonNullable<MeasureResponse['effect']>;
  axis: EffectAxis;
  color: string;
}

/** An end that is off the axis is an arrow; without an interval there is the estimate alone. */
function Interval({ effect, axis, color }: IntervalProps) {
  const [low, estimate, high] = [effect.low, effect.estimate, effect.high].map((ratio) =>
    placeOf(axis, ratio ?? Infinity)
  );
  if (low === undefined || estimate === undefined || high === undefined) {
    return null;
  }
  return (
    <g stroke={color} fill={color} strokeWidth={2}>
      {!isOpen(effect) && (
        <>
          <line data-part="interval" x1={share(inside(low))} x2={share(inside(high))} y1={MIDDLE} y2={MIDDLE} />
          <End place={low} points="0,0 7,-5 7,5" />
          <End place={high} points="0,0 -7,-5 -7,5" />
        </>
      )}
      {Number.isFinite(estimate) && estimate >= 0 && estimate <= 1 && (
        <circle data-part="estimate" cx={share(estimate)} cy={MIDDLE} r={4.5} strokeWidth={0} />
      )}
    </g>
  );
}

function End({ place, points }: { place: number; points: string }) {
  return place === inside(place) ? (
    <line x1={share(place)} x2={share(place)} y1={MIDDLE - CAP} y2={MIDDLE + CAP} />
  ) : (
    // A nested drawing, because the points of a polygon are not percentages.
    <svg x={share(inside(place))} y={MIDDLE} overflow="visible">
      <polygon data-part="arrow" points={points} strokeWidth={0} />
    </svg>
  );
}

/** The heading of the plots: the changes at the ticks. */
export function EffectTicks({ axis }: { axis: EffectAxis }) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.plot}>
      {axis.ticks.map((ratio) => (
        <span key={ratio} className={styles.tick} style={{ left: share(placeOf(axis, ratio)) }}>
          {tickText(ratio)}
        </span>
      ))}
    </div>
  );
}

function tickText(ratio: number): string {
  return ratio === 1 ? '0' : changeText(ratio);
}

function verdictColor(theme: GrafanaTheme2, verdict: MeasureResponse['verdict']): string {
  switch (verdict) {
    case 'regressed':
      return theme.colors.error.text;
    case 'improved':
      return theme.colors.success.text;
    case 'suspect':
      return theme.colors.warning.text;
    default:
      return theme.colors.text.primary;
  }
}

function plotLabel(measure: MeasureResponse): string {
  const { effect, margin } = measure;
  return effect === null
    ? t('comparison.plot-empty', 'No effect known')
    : t('comparison.plot', 'Effect {{effect}}, interval {{interval}}, margin {{margin}}', {
        effect: effectText(effect),
        interval: intervalText(effect),
        margin: marginText(margin),
      });
}

function inside(place: number): number {
  return Math.min(1, Math.max(0, place));
}

function share(place: number): string {
  return `${(100 * place).toFixed(3)}%`;
}

const getStyles = (theme: GrafanaTheme2) => ({
  plot: css({
    position: 'relative',
    width: 'clamp(190px, 24cqw, 420px)',
    height: 'auto',
    minHeight: 18,
    svg: { display: 'block', overflow: 'hidden' },
    'svg svg': { overflow: 'visible' },
  }),
  tick: css({
    position: 'absolute',
    transform: 'translateX(-50%)',
    whiteSpace: 'nowrap',
    color: theme.colors.text.secondary,
    fontWeight: theme.typography.fontWeightRegular,
  }),
});
