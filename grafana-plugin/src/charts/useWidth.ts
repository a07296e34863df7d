import { type RefObject, useEffect, useRef, useState } from 'react';

/** The width of an element in pixels, 0 until it is known. */
export function useWidth<T extends HTMLElement>(): [RefObject<T>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = element;
    if (current === null) {
      return undefined;
    }
    const measure = () => setWidth(Math.floor(current.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
