import { DataHoverClearEvent, DataHoverEvent, type EventBus } from '@grafana/data';
import React, { useCallback, useEffect, useState } from 'react';
import type { Area } from '../../../charts/marks.tsx';
import { PointerArea } from '../../../charts/PointerArea.tsx';
import { Tooltip, type Reading } from './Tooltip.tsx';

interface Props extends Area {
  width: number;
  height: number;
  reading: Reading;
  eventBus: EventBus;
  onZoom: (fromMs: number, toMs: number) => void;
}

/** Crosshair, which other panels share, tooltip and zoom by dragging. */
export function PointerLayer({ reading, eventBus, onZoom, ...area }: Props) {
  const { x, y } = area;
  const { otherMs, publish } = useSharedCrosshair(eventBus);
  return (
    <PointerArea
      {...area}
      crosshairAt={(pointer) => pointer?.x ?? (otherMs === null || Number.isNaN(x(otherMs)) ? null : x(otherMs))}
      onPoint={(pointer) => publish(pointer && x.invert(pointer.x))}
      onSelect={(fromMs, toMs) => onZoom(Math.round(fromMs), Math.round(toMs))}
    >
      {(pointer) =>
        pointer?.draggedFrom === null && (
          <Tooltip
            timeMs={x.invert(pointer.x)}
            value={y.invert(pointer.y)}
            at={{ x: pointer.clientX, y: pointer.clientY }}
            {...reading}
          />
        )
      }
    </PointerArea>
  );
}

/** The time under the pointer in another panel of the dashboard, and a function that publishes this panel's. */
function useSharedCrosshair(eventBus: EventBus) {
  const [otherMs, setOtherMs] = useState<number | null>(null);
  useEffect(() => {
    const hover = eventBus.getStream(DataHoverEvent).subscribe(({ payload, origin }) => {
      const time: unknown = payload.point?.['time'];
      if (origin !== eventBus && typeof time === 'number') {
        setOtherMs(time);
      }
    });
    const clear = eventBus.getStream(DataHoverClearEvent).subscribe(() => setOtherMs(null));
    return () => {
      hover.unsubscribe();
      clear.unsubscribe();
    };
  }, [eventBus]);
  const publish = useCallback(
    (timeMs: number | null) =>
      eventBus.publish(timeMs === null ? new DataHoverClearEvent() : new DataHoverEvent({ point: { time: timeMs } })),
    [eventBus]
  );
  return { otherMs, publish };
}
