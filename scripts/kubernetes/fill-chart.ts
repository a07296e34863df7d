/** `npm run chart`: puts dashboards, rules and alerts into the chart, which Helm can then install or pack. */
import { CHART, fillChart } from './chart-files.ts';

await fillChart(CHART);
