import { type DataFrame, LoadingState, type PanelData, toDataFrame } from '@grafana/data';
import { setRunRequest } from '@grafana/runtime';
import { catchError, from, map, merge, type Observable, of } from 'rxjs';

/** Runs queries for scenes: loading first, then what the data source answers or why it could not. */
export function registerRunRequest(): void {
  setRunRequest((dataSource, request) => {
    const base: PanelData = {
      state: LoadingState.Loading,
      series: [],
      annotations: [],
      timeRange: request.range,
      request,
      structureRev: 1,
    };
    const answer: Observable<PanelData> = from(dataSource.query(request)).pipe(
      map((response) => ({
        ...base,
        state: response.state ?? LoadingState.Done,
        series: response.data.map((frame: DataFrame) => toDataFrame(frame)),
        ...(response.errors && { errors: response.errors }),
      })),
      catchError((error: Error) =>
        of({ ...base, state: LoadingState.Error, errors: [{ message: error.message ?? String(error) }] })
      )
    );
    return merge(of(base), answer);
  });
}
