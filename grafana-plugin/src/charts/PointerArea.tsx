import { useTheme2 } from '@grafana/ui';
import React, { useState, type PointerEvent, type ReactNode } from 'react';
import { LineAt, type Area } from './marks.tsx';

/** Where the pointer is in a drawing. */
export interface Pointer {
  /** Pixels from the edges of the chart; x is within the drawing. */
  x: number;
  y: number;
  /** Position in the window. */
  clientX: number;
  clientY: number;
  /** Where a drag began, in pixels; null while no button is held. */
  draggedFrom: number | null;
}

interface Props extends Area {
  width: number;
  height: number;
  onPoint?: (pointer: Pointer | null) => void;
  /** A stretch of x was selected by dragging. */
  onSelect?: (low: number, high: number) => void;
  onClick?: (pointer: Pointer) => void;
  /** Pixels of the vertical line; default: where the pointer is. */
  crosshairAt?: (pointer: Pointer | null) => number | null;
  children?: (pointer: Pointer | null) => ReactNode;
}

/** A shorter movement of the pointer is a click. */
const MIN_DRAG = 6;

/**
 * A layer over a drawing: crosshair, and selection by dragging. It keeps its own state, so that moving the pointer redraws
 * nothing else; `children` are above it.
 */
export function PointerArea({ width, height, x, y, onPoint, onSelect, onClick, crosshairAt, children }: Props) {
  const theme = useTheme2();
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const dragged = pointer?.draggedFrom ?? null;
  const crosshair = crosshairAt ? crosshairAt(pointer) : (pointer?.x ?? null);

  const track = ({ currentTarget, clientX, clientY }: PointerEvent<SVGGElement>, isDragged: boolean): Pointer => {
    const box = currentTarget.ownerSVGElement?.getBoundingClientRect();
    const at = Math.min(right, Math.max(left, clientX - (box?.left ?? 0)));
    const draggedFrom = isDragged ? (dragged ?? at) : null;
    const found = { x: at, y: clientY - (box?.top ?? 0), clientX, clientY, draggedFrom };
    setPointer(found);
    onPoint?.(found);
    return found;
  };
  const down = (event: PointerEvent<SVGGElement>) => {
    if (event.button === 0 && (onSelect || onClick)) {
      event.currentTarget.setPointerCapture(event.pointerId);
      track(event, true);
    }
  };
  const up = (event: PointerEvent<SVGGElement>) => {
    const found = track(event, false);
    if (dragged !== null && Math.abs(found.x - dragged) >= MIN_DRAG) {
      onSelect?.(x.invert(Math.min(dragged, found.x)), x.invert(Math.max(dragged, found.x)));
    } else if (dragged !== null) {
      onClick?.(found);
    }
  };
  const leave = () => {
    setPointer(null);
    onPoint?.(null);
  };
  return (
    <svg
      width={width}
      height={height}
      aria-hidden="true"
      style={{ position: 'absolute', inset: 0, willChange: 'transform', pointerEvents: 'none' }}
    >
      {crosshair !== null && crosshair >= left && crosshair <= right && (
        <LineAt axis="x" at={crosshair} x={x} y={y} stroke={theme.colors.text.secondary} strokeDasharray="4 3" />
      )}
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
      <g
        pointerEvents="all"
        style={{ cursor: 'crosshair', touchAction: onSelect ? 'none' : 'auto' }}
        onPointerDown={down}
        onPointerMove={(event) => track(event, dragged !== null)}
        onPointerUp={up}
        onPointerLeave={leave}
      >
        <rect
          data-part="pointer"
          x={left}
          y={top}
          width={right - left}
          height={Math.max(0, bottom - top)}
          fill="transparent"
        />
        {children?.(pointer)}
      </g>
    </svg>
  );
}
