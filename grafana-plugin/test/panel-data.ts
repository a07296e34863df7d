import { type DataFrame, type DataFrameDTO, toDataFrame } from '@grafana/data';
import { readFileSync } from 'fs';
import { join } from 'path';

export interface PanelData {
  series: DataFrame[];
  annotations: DataFrame[];
}

/** Reads what a real Grafana handed to a panel (`test/fixtures`). */
export function panelData(name: string): PanelData {
  const text = readFileSync(join(__dirname, 'fixtures', `${name}.json`), 'utf8');
  const data: { series: DataFrameDTO[]; annotations: DataFrameDTO[] } = JSON.parse(text);
  return {
    series: data.series.map((frame) => toDataFrame(frame)),
    annotations: data.annotations.map((frame) => toDataFrame(frame)),
  };
}
