/** What every panel says about itself. */
export interface PanelFrame {
  /** Stable and unique in its dashboard: links and alert rules name a panel by it. */
  readonly id: number;
  readonly title: string;
  /** What is shown, and how it was measured. */
  readonly description: string;
  /** Width in 24ths of the screen. */
  readonly width: number;
  /** Height in grid rows. */
  readonly height: number;
}
