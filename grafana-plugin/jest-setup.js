import './.config/jest-setup';

// jsdom draws nothing: @grafana/ui measures text on a canvas, so a fixed width per character stands in for it.
HTMLCanvasElement.prototype.getContext = () => ({
  measureText: (text) => ({ width: text.length * 7 }),
});
