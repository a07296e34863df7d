import { t } from '@grafana/i18n';
import { Portal, SeriesTable, VizTooltipContainer } from '@grafana/ui';
import React, { type PointerEvent, useState } from 'react';
import type { Scale } from '../../../../../../core/chart/scale.ts';
import { sloShare, type SloShare } from '../../compute/percentile-series.ts';
import type { PercentileLine } from '../lines.ts';
import { percentText, shareText, PLAIN_TEXT, type ValueFormat } from '../value-text.ts';
import { PointerArea } from '../PointerLayer.tsx';

interface Props {
  width: number;
  height: number;
  x: Scale;
  y: Scale;
  /** One per distribution. */
  series: ReadonlyArray<{ line: PercentileLine; color: string }>;
  format: ValueFormat;
}

const MAX_ROWS = 12;

/** The share of each distribution at or below the value under the pointer. */
export function CdfPointer({ width, height, x, y, series, format }: Props) {
  const [pointer, setPointer] = useState<{ x: number; clientX: number; clientY: number } | null>(null);
  const [left] = x.range;
  const value = pointer === null ? NaN : x.invert(pointer.x);
  const move = ({ currentTarget, clientX, clientY }: PointerEvent<SVGRectElement>) =>
    setPointer({ x: left + clientX - currentTarget.getBoundingClientRect().left, clientX, clientY });
  const rows = series.slice(0, MAX_ROWS).flatMap(({ line, color }) => {
    const share = sloShare(line.series, value);
    return share ? [{ color, label: line.seriesName, value: rowText(share, line.series.range?.n ?? null) }] : [];
  });
  return (
    <PointerArea
      width={width}
      height={height}
      x={x}
      y={y}
      crosshair={pointer && pointer.x}
      onPointerMove={move}
      onPointerLeave={() => setPointer(null)}
    >
      {pointer && (
        <Portal>
          <VizTooltipContainer position={{ x: pointer.clientX, y: pointer.clientY }} offset={{ x: 12, y: 12 }}>
            <div data-testid="percentiles tooltip">
              <SeriesTable
                timestamp={t('panel.cdf.at-or-below', 'At or below {{value}}', { value: format(value), ...PLAIN_TEXT })}
                series={rows}
              />
            </div>
          </VizTooltipContainer>
        </Portal>
      )}
    </PointerArea>
  );
}

/** The share, its estimate where that is another, and of how many. */
function rowText(share: SloShare, n: number | null): string {
  const estimate = t('panel.cdf.estimate', '(estimate {{share}})', {
    share: percentText(share.estimate),
    ...PLAIN_TEXT,
  });
  return [
    shareText(share),
    ...(share.certain && share.low !== share.high ? [estimate] : []),
    ...(n === null ? [] : [`n = ${n.toLocaleString('en-US')}`]),
  ].join(' ');
}
