import type { SceneObject } from '@grafana/scenes';
import { useEffect } from 'react';
import { usePage } from './page-context.ts';

/**
 * Puts scene objects, such as panels, into the page's scene, where they find its time range, and returns them once they
 * are there. `create` comes from `useMemo`; null for nothing. A page has one such content.
 */
export function useSceneContent(create: (() => SceneObject) | null): SceneObject | null {
  const { content, setContent } = usePage();
  useEffect(() => {
    setContent(create?.());
    return () => setContent(undefined);
  }, [create, setContent]);
  return content ?? null;
}
