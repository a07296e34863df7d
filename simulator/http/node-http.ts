/** Node's HTTP module: imported as an ES module it loads fetch and WebSocket too, which takes 50 ms of processor time. */
export const { Agent, createServer, request } = process.getBuiltinModule('node:http');
