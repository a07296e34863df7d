import { DataSourcePlugin } from '@grafana/data';
import { ConfigEditor } from './components/ConfigEditor.tsx';
import { QueryEditor } from './components/QueryEditor.tsx';
import { RunsDataSource } from './RunsDataSource.ts';
import type { RunsOptions, RunsQuery, RunsSecrets } from './types.ts';

export const plugin = new DataSourcePlugin<RunsDataSource, RunsQuery, RunsOptions, RunsSecrets>(RunsDataSource)
  .setConfigEditor(ConfigEditor)
  .setQueryEditor(QueryEditor);
