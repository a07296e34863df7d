import React, { useMemo, useState, type SyntheticEvent } from 'react';
import { css } from '@emotion/css';
import { locationUtil, type GrafanaTheme2 } from '@grafana/data';
import { locationService } from '@grafana/runtime';
import { useStyles2, useTheme2 } from '@grafana/ui';
import { useLocation } from 'react-router-dom';
import { diamondPath } from '../../../../core/chart/path.ts';
import { ticksOf, type Scale } from '../../../../core/chart/scale.ts';
import {
  curvePath,
  curveScales,
  isOpen,
  loadLabels,
  markedPoints,
  repeatsPath,
  type SweepPoint,
  type LatencyLimit,
} from '../../../../core/sweeps/sweep-curves.ts';
import { TooltipBox, TooltipRows, type WindowPlace } from '../../charts/ChartTooltip.tsx';
import { chartText } from '../../charts/chart-style.ts';
import { Axis as ValueAxis, LineAt } from '../../charts/marks.tsx';
import { useWidth } from '../../charts/useWidth.ts';
import { runUrl } from '../../components/run-link.ts';
import type { ChartCurve } from './chart-curves.ts';
import { t } from '../../text.ts';

interface Axis {
  title: string;
  text: (value: number) => string;
  /** Logarithmic where the values span more than a factor of 20. */
  mayBeLog?: boolean;
}

interface Pointed {
  curve: ChartCurve;
  point: SweepPoint;
}

interface CurveTooltipProps {
  pointed: Pointed & { at: WindowPlace };
  xAxis: Axis;
  yAxis: Axis;
}

/** The step that is pointed at. */
function CurveTooltip({ pointed: { curve, point, at }, xAxis, yAxis }: CurveTooltipProps) {
  const { step } = point;
  const range = ([low, high]: readonly [number, number], { text }: Axis) =>
    low === high ? '' : ` (${text(low)} – ${text(high)})`;
  const objective = {
    met: t('sweeps.objective-met', 'met'),
    not_met: t('sweeps.objective-not-met', 'not met'),
    undecided: t('sweeps.objective-undecided', 'undecided'),
  };
  const rows: Array<[string, string]> = [
    [t('sweeps.load', 'Load'), step.load.toLocaleString('en-US')],
    [xAxis.title, `${xAxis.text(point.x)}${range(point.xRange, xAxis)}`],
    [yAxis.title, `${yAxis.text(point.y)}${range(point.yRange, yAxis)}`],
    [t('sweeps.runs', 'Runs'), String(step.runs.length)],
    ...(step.objective === null
      ? []
      : [[t('sweeps.objective', 'Objective'), objective[step.objective]] as [string, string]]),
  ];
  return (
    <TooltipBox at={at} role="status">
      <b>{curve.shown.name}</b>
      <TooltipRows rows={rows} />
    </TooltipBox>
  );
}

interface CurveChartProps {
  /** What the chart shows, for people who cannot see it. */
  label: string;
  curves: readonly ChartCurve[];
  frontier?: readonly SweepPoint[];
  limits?: readonly LatencyLimit[];
  x: Axis;
  y: Axis;
}

const HEIGHT = 340;
const MARGIN = { top: 16, right: 24, bottom: 44, left: 68 };
const PIXELS_PER_TICK = { x: 90, y: 48 };
const LABELS = { characterWidth: 7, lineHeight: 14 };
const KNEE_RADIUS = 9.5;

/** Curves over the steps of sweeps: each point is a load and a link to its run. */
export function CurveChart({ label, curves, frontier = [], limits = [], x: xAxis, y: yAxis }: CurveChartProps) {
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<CurveTooltipProps['pointed'] | null>(null);
  const bottom = HEIGHT - MARGIN.bottom;
  const right = Math.max(MARGIN.left + 1, width - MARGIN.right);
  const all = useMemo(() => curves.flatMap(({ points }) => points), [curves]);
  const { x, y } = useMemo(
    () =>
      curveScales(all, limits, {
        x: {
          range: [MARGIN.left, right],
          ticks: (right - MARGIN.left) / PIXELS_PER_TICK.x,
          mayBeLog: xAxis.mayBeLog,
        },
        y: {
          range: [bottom, MARGIN.top],
          ticks: (bottom - MARGIN.top) / PIXELS_PER_TICK.y,
          mayBeLog: yAxis.mayBeLog,
        },
      }),
    [all, limits, right, bottom, xAxis.mayBeLog, yAxis.mayBeLog]
  );
  const marked = curves.filter(({ isReference }) => !isReference);
  return (
    <div ref={box} className={styles.box}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} role="group" aria-label={label} onPointerLeave={() => setPointed(null)}>
          <Axes x={x} y={y} xAxis={xAxis} yAxis={yAxis} />
          {frontier.length > 1 && (
            <path
              data-drawn="frontier"
              d={curvePath(frontier, { x, y })}
              fill="none"
              stroke={theme.colors.text.disabled}
              strokeOpacity={0.45}
              strokeWidth={10}
              strokeLinejoin="round"
              strokeLinecap="round"
            />
          )}
          {limits.map(({ value, text }) => (
            <g key={text} data-limit={text}>
              <LineAt axis="y" at={y(value)} x={x} y={y} stroke={theme.colors.error.text} strokeDasharray="7 4" />
              <text x={MARGIN.left + 6} y={y(value) - 5} className={styles.limit}>
                {text}
              </text>
            </g>
          ))}
          {curves.map(({ shown, points, isReference }) => (
            <path
              key={`${shown.sweep.sweep_id}${isReference ? ' reference' : ''}`}
              data-curve={shown.name}
              d={curvePath(points, { x, y })}
              fill="none"
              stroke={shown.color}
              strokeWidth={isReference ? 1.2 : 2}
              strokeLinejoin="round"
              {...(isReference && { strokeDasharray: '5 4' })}
            />
          ))}
          {marked.map((curve) => (
            <StepMarks key={curve.shown.sweep.sweep_id} curve={curve} x={x} y={y} />
          ))}
          {marked.flatMap((curve) =>
            curve.points.map((point) => (
              <PointMark
                key={`${curve.shown.sweep.sweep_id} ${point.step.load}`}
                {...{ curve, point }}
                x={x}
                y={y}
                text={pointLabel({ curve, point }, xAxis, yAxis)}
                onPoint={setPointed}
              />
            ))
          )}
          <LoadLabels curves={marked} x={x} y={y} right={right} bottom={bottom} />
        </svg>
      )}
      {pointed && <CurveTooltip pointed={pointed} xAxis={xAxis} yAxis={yAxis} />}
    </div>
  );
}

function Axes({ x, y, xAxis, yAxis }: { x: Scale; y: Scale; xAxis: Axis; yAxis: Axis }) {
  const styles = useStyles2(chartText);
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const log = t('sweeps.log', 'log scale');
  return (
    <>
      <ValueAxis axis="y" x={x} y={y} ticks={ticksOf(y, (bottom - top) / PIXELS_PER_TICK.y)} text={yAxis.text} />
      <ValueAxis axis="x" x={x} y={y} ticks={ticksOf(x, (right - left) / PIXELS_PER_TICK.x)} text={xAxis.text} />
      <text x={right} y={HEIGHT - 6} textAnchor="end" className={styles.note}>
        {xAxis.title}
        {x.isLog ? `, ${log}` : ''}
      </text>
      <text x={left + 4} y={top - 4} className={styles.note}>
        {yAxis.title}
        {y.isLog ? `, ${log}` : ''}
      </text>
    </>
  );
}

interface PointProps extends Pointed {
  x: Scale;
  y: Scale;
  text: string;
  onPoint: (pointed: CurveTooltipProps['pointed'] | null) => void;
}

/** Hollow where the objective is not met or undecided; bars reach from the smallest to the largest repeat. */
function PointMark({ curve, point, x, y, text, onPoint }: PointProps) {
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const { step } = point;
  const { color } = curve.shown;
  const repeats = repeatsPath(point, { x, y });
  const [cx, cy] = [x(point.x), y(point.y)];
  const run = step.runs.at(-1);
  const url = run === undefined ? '' : runUrl(run, search);
  const point_ = ({ currentTarget }: SyntheticEvent) => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    onPoint({ curve, point, at: { x: left + width / 2, y: top + height / 2 } });
  };
  return (
    <a
      href={locationUtil.assureBaseUrl(url)}
      aria-label={text}
      className={styles.point}
      data-load={step.load}
      data-sweep={curve.shown.name}
      onClick={(event) => {
        if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
          event.preventDefault();
          locationService.push(url);
        }
      }}
      onPointerEnter={point_}
      onFocus={point_}
      onBlur={() => onPoint(null)}
    >
      {repeats !== '' && <path d={repeats} stroke={color} strokeWidth={1.2} />}
      <circle
        cx={cx}
        cy={cy}
        r={4.5}
        stroke={color}
        strokeWidth={2}
        fill={isOpen(point) ? theme.colors.background.primary : color}
      />
      {/* A larger target for the pointer. */}
      <circle cx={cx} cy={cy} r={11} fill="transparent" />
    </a>
  );
}

/** A diamond around the knee, a ring around the largest load within the objectives. */
function StepMarks({ curve, x, y }: { curve: ChartCurve; x: Scale; y: Scale }) {
  const theme = useTheme2();
  const { knee, within } = markedPoints({ sweep: curve.shown.sweep, points: curve.points });
  return (
    <>
      {knee && (
        <path
          data-mark="knee"
          d={diamondPath(x(knee.x), y(knee.y), KNEE_RADIUS)}
          fill="none"
          stroke={theme.colors.text.primary}
          strokeWidth={1.5}
        />
      )}
      {within && (
        <circle
          data-mark="within-objective"
          cx={x(within.x)}
          cy={y(within.y)}
          r={8}
          fill="none"
          stroke={theme.colors.success.text}
          strokeWidth={2.2}
        />
      )}
    </>
  );
}

interface LabelProps {
  curves: readonly ChartCurve[];
  x: Scale;
  y: Scale;
  right: number;
  bottom: number;
}

/** The loads beside their points as far as there is room; the marked loads first. */
function LoadLabels({ curves, x, y, right, bottom }: LabelProps) {
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  const labels = loadLabels(
    curves.map(({ shown: { sweep }, points }) => ({ sweep, points })),
    { x, y },
    { left: MARGIN.left, right, top: MARGIN.top, bottom, ...LABELS }
  );
  return (
    <g aria-hidden="true">
      {labels.map((label) => (
        <text
          key={`${label.x} ${label.y}`}
          x={label.x}
          y={label.y}
          textAnchor={label.align}
          className={styles.load}
          stroke={theme.colors.background.primary}
        >
          {label.text}
        </text>
      ))}
    </g>
  );
}

function pointLabel({ curve, point }: Pointed, x: Axis, y: Axis): string {
  return t('sweeps.point', '{{sweep}}, load {{load}}: {{x}} {{xTitle}}, {{y}} {{yTitle}}: open the run', {
    sweep: curve.shown.name,
    load: point.step.load,
    x: x.text(point.x),
    xTitle: x.title,
    y: y.text(point.y),
    yTitle: y.title,
  });
}

const getStyles = (theme: GrafanaTheme2) => ({
  box: css({ position: 'relative', minWidth: 0, svg: { display: 'block' } }),
  limit: css({ fill: theme.colors.error.text, fontSize: 12 }),
  load: css({ fill: theme.colors.text.primary, fontSize: 12, strokeWidth: 3, paintOrder: 'stroke' }),
  point: css({
    cursor: 'pointer',
    outline: 'none',
    '&:focus-visible circle': { stroke: theme.colors.primary.text, strokeWidth: 4 },
  }),
});
