/** A point with a text that is to stand beside it; pixels, y downwards. */
export interface LabelAnchor {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Where a text begins, is centered or ends, on its base line. */
export interface PlacedLabel {
  readonly x: number;
  readonly y: number;
  readonly align: 'start' | 'middle' | 'end';
}

export interface LabelSpace {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Mean width of a character, and height of a line. */
  readonly characterWidth: number;
  readonly lineHeight: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** From the middle of a point to its edge, and from there to the text. */
const POINT_RADIUS = 5;
const GAP = 4;

/**
 * Places texts beside their points so that they cover neither each other nor a point, in the given order: the first ones
 * have the choice. Null for a text without a place.
 *
 * @param points all points of the chart
 */
export function placeLabels(
  anchors: readonly LabelAnchor[],
  points: readonly Pick<LabelAnchor, 'x' | 'y'>[],
  space: LabelSpace,
): readonly (PlacedLabel | null)[] {
  const taken: Box[] = points.map(({ x, y }) => around(x, y, POINT_RADIUS));
  return anchors.map((anchor) => {
    for (const place of placesOf(anchor, space)) {
      const box = boxOf(place, anchor.text, space);
      if (!isInside(box, space) || taken.some((other) => overlaps(box, other))) continue;
      taken.push(box);
      return place;
    }
    return null;
  });
}

/** The best first. */
function placesOf({ x, y }: LabelAnchor, { lineHeight }: LabelSpace): readonly PlacedLabel[] {
  const beside = POINT_RADIUS + GAP;
  const [above, below] = [y - beside + 2, y + beside + lineHeight - 5];
  return [
    { x: x + beside - 3, y: above, align: 'start' },
    { x: x - beside + 3, y: above, align: 'end' },
    { x: x + beside - 3, y: below, align: 'start' },
    { x: x - beside + 3, y: below, align: 'end' },
    { x: x + beside, y: y + 4, align: 'start' },
    { x: x - beside, y: y + 4, align: 'end' },
    { x, y: above - 1, align: 'middle' },
    { x, y: below + 1, align: 'middle' },
  ];
}

function boxOf({ x, y, align }: PlacedLabel, text: string, { characterWidth, lineHeight }: LabelSpace): Box {
  const width = text.length * characterWidth;
  const left = align === 'start' ? x : align === 'end' ? x - width : x - width / 2;
  return { left, right: left + width, top: y - lineHeight * 0.75, bottom: y + lineHeight * 0.2 };
}

const around = (x: number, y: number, radius: number): Box => ({
  ...{ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius },
});

const isInside = (box: Box, space: Box): boolean =>
  box.left >= space.left && box.right <= space.right && box.top >= space.top && box.bottom <= space.bottom;

const overlaps = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
