import { DataHoverClearEvent, DataHoverEvent, type EventBus } from '@grafana/data';
import { useCallback, useEffect, useState } from 'react';

/** The time under the pointer in another panel of the dashboard, and a function that publishes this panel's. */
export function useSharedCrosshair(eventBus: EventBus) {
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
