import type { AppPlugin } from '@grafana/data';
import { LoadingPlaceholder } from '@grafana/ui';
import React, { lazy, Suspense } from 'react';
import { PLUGIN_ID } from '../constants.ts';
import type { RunSummaryProps } from './RunSummaryCard.tsx';

/** The component that other plugins may show; plugin.json declares the same. */
export const RUN_SUMMARY = {
  id: `${PLUGIN_ID}/run-summary/v1`,
  title: 'Run summary',
  description: 'Key numbers of one benchmark run, with a link to its page',
};

const LazyCard = lazy(async () => (await import('./load-run-summary.ts')).loadRunSummary());

export function exposeRunSummary(plugin: AppPlugin): void {
  plugin.exposeComponent<RunSummaryProps>({
    ...RUN_SUMMARY,
    component: (props) => (
      <Suspense fallback={<LoadingPlaceholder text="" />}>
        <LazyCard {...props} />
      </Suspense>
    ),
  });
}
