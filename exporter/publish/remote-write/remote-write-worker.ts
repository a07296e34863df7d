/**
 * The thread that stores and sends the metrics of a run, so that encoding, disk and network never delay the measuring
 * thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { startSending, type SendingOptions, type FromWorker, type ToWorker } from './sending.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the entry of a worker thread');

const report = (message: FromWorker): void => port.postMessage(message);
const sending = startSending(workerData as SendingOptions, (line) => report({ kind: 'problem', line }));

report({ kind: 'ready' });
port.on('message', (message: ToWorker) => {
  if (message.kind === 'layout') sending.declare(message.number, message.layout);
  else if (message.kind === 'point') sending.append(message.layout, message.point);
  else
    void sending
      .finish(message.seconds, (reason, seconds) => report({ kind: 'delayed', reason, seconds }))
      .then((summary) => {
        report({ kind: 'finished', summary });
        port.close();
      });
});
