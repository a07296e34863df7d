import { SeriesTable } from '@grafana/ui';
import React from 'react';
import { TooltipBox } from '../../../../charts/ChartTooltip.tsx';
import type { Area } from '../../../../charts/marks.tsx';
import { PointerArea, type Pointer } from '../../../../charts/PointerArea.tsx';
import { sloShare, type SloShare } from '../../compute/percentile-series.ts';
import type { PercentileLine } from '../lines.ts';
import { percentText, shareText, type ValueFormat } from '../value-text.ts';
import { t } from '../../../../text.ts';

interface Props extends Area {
  width: number;
  height: number;
  /** One per distribution. */
  series: ReadonlyArray<{ line: PercentileLine; color: string }>;
  format: ValueFormat;
}

const MAX_ROWS = 12;

/** The share of each distribution at or below the value under the pointer. */
export function CdfPointer({ series, format, ...area }: Props) {
  return <PointerArea {...area}>{(pointer) => pointer && tooltip(pointer, area.x.invert(pointer.x))}</PointerArea>;

  function tooltip({ clientX, clientY }: Pointer, value: number) {
    const rows = series.slice(0, MAX_ROWS).flatMap(({ line, color }) => {
      const share = sloShare(line.series, value);
      return share ? [{ color, label: line.seriesName, value: rowText(share, line.series.range?.n ?? null) }] : [];
    });
    return (
      <TooltipBox at={{ x: clientX, y: clientY }}>
        <div data-testid="percentiles tooltip">
          <SeriesTable
            timestamp={t('panel.cdf.at-or-below', 'At or below {{value}}', { value: format(value) })}
            series={rows}
          />
        </div>
      </TooltipBox>
    );
  }
}

/** The share, its estimate where that is another, and of how many. */
function rowText(share: SloShare, n: number | null): string {
  const estimate = t('panel.cdf.estimate', '(estimate {{share}})', {
    share: percentText(share.estimate),
  });
  return [
    shareText(share),
    ...(share.certain && share.low !== share.high ? [estimate] : []),
    ...(n === null ? [] : [`n = ${n.toLocaleString('en-US')}`]),
  ].join(' ');
}
