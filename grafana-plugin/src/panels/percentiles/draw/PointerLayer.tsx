import { useTheme2 } from '@grafana/ui';
import React, { useCallback, useEffect, useState, type ReactNode, type SVGProps, type PointerEvent } from 'react';
import { DataHoverClearEvent, DataHoverEvent, type EventBus } from '@grafana/data';
import type { Scale } from '../../../../../core/chart/scale.ts';
import { LineAt } from '../../../charts/marks.tsx';
import { Tooltip, type Reading } from './Tooltip.tsx';

interface PointerAreaProps extends Pick<
  SVGProps<SVGRectElement>,
  'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerLeave' | 'style'
> {
  width: number;
  height: number;
  x: Scale;
  y: Scale;
  /** Position of the vertical line, in pixels; null for none. */
  crosshair: number | null;
  children: ReactNode;
}

/** A layer over a drawing that handles pointer events and shows the crosshair; `children` are drawn above it. */
export function PointerArea({ width, height, x, y, crosshair, children, style, ...events }: PointerAreaProps) {
  const theme = useTheme2();
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return (
    <svg
      width={width}
      height={height}
      aria-hidden="true"
      style={{ position: 'absolute', inset: 0, willChange: 'transform' }}
    >
      {crosshair !== null && crosshair >= left && crosshair <= right && (
        <LineAt axis="x" at={crosshair} x={x} y={y} stroke={theme.colors.text.secondary} strokeDasharray="4 3" />
      )}
      {children}
      <rect
        data-part="pointer"
        x={left}
        y={top}
        width={right - left}
        height={Math.max(0, bottom - top)}
        fill="transparent"
        style={{ cursor: 'crosshair', ...style }}
        {...events}
      />
    </svg>
  );
}

interface PointerLayerProps {
  width: number;
  height: number;
  x: Scale;
  y: Scale;
  reading: Reading;
  eventBus: EventBus;
  onZoom: (fromMs: number, toMs: number) => void;
}

interface Pointer {
  /** Pixels within the drawing. */
  x: number;
  y: number;
  /** Position in the window. */
  clientX: number;
  clientY: number;
  /** Where a drag began, in pixels within the drawing; null while no button is held. */
  draggedFrom: number | null;
}

const MIN_DRAG = 6;

/**
 * Crosshair, tooltip and zoom by dragging. It keeps its own state and is a layer of its own, so that moving the pointer
 * redraws nothing else.
 */
export function PointerLayer(props: PointerLayerProps) {
  const { width, height, x, y, reading, eventBus, onZoom } = props;
  const theme = useTheme2();
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const { otherMs, publish } = useSharedCrosshair(eventBus);
  const [left, right] = x.range;
  const [bottom, top] = y.range;

  const track = (event: PointerEvent<SVGRectElement>, draggedFrom: number | null) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = Math.min(right, Math.max(left, left + event.clientX - box.left));
    const { clientX, clientY } = event;
    setPointer({ x: at, y: top + clientY - box.top, clientX, clientY, draggedFrom });
    publish(x.invert(at));
    return at;
  };
  const down = (event: PointerEvent<SVGRectElement>) => {
    if (event.button === 0) {
      event.currentTarget.setPointerCapture(event.pointerId);
      track(event, left + event.clientX - event.currentTarget.getBoundingClientRect().left);
    }
  };
  const up = (event: PointerEvent<SVGRectElement>) => {
    const from = pointer?.draggedFrom ?? null;
    const to = track(event, null);
    if (from !== null && Math.abs(to - from) >= MIN_DRAG) {
      onZoom(Math.round(x.invert(Math.min(from, to))), Math.round(x.invert(Math.max(from, to))));
    }
  };
  const leave = () => {
    setPointer(null);
    publish(null);
  };

  const crosshair = pointer ? pointer.x : otherMs !== null && !Number.isNaN(x(otherMs)) ? x(otherMs) : null;
  const dragged = pointer?.draggedFrom ?? null;
  return (
    <PointerArea
      width={width}
      height={height}
      x={x}
      y={y}
      crosshair={crosshair}
      style={{ touchAction: 'none' }}
      onPointerDown={down}
      onPointerMove={(event) => track(event, dragged)}
      onPointerUp={up}
      onPointerLeave={leave}
    >
      {pointer && dragged !== null && (
        <rect
          x={Math.min(dragged, pointer.x)}
          y={top}
          width={Math.abs(pointer.x - dragged)}
          height={bottom - top}
          fill={theme.colors.text.primary}
          fillOpacity={0.12}
        />
      )}
      {pointer && dragged === null && (
        <Tooltip
          timeMs={x.invert(pointer.x)}
          value={y.invert(pointer.y)}
          position={{ x: pointer.clientX, y: pointer.clientY }}
          {...reading}
        />
      )}
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
