// The position of a marker. Readers pass markers on without parsing them; code that compares two markers uses this.

export interface Position {
  /** The life of the feed. */
  readonly epoch: number
  /** Increases along the feed. */
  readonly at: number
}

/** Before all others of any life. */
const START: Position = { epoch: 0, at: 0 }

/** A marker is `<epoch>-<position>`, with more after it if delayed messages were shown. */
export function positionOf(marker: string): Position {
  const [epoch, at] = marker.split('-', 2).map(Number)
  return epoch === undefined || at === undefined ? START : { epoch, at }
}

/** When the delayed message before this marker becomes visible; null if there is none before it. */
export function visibleAtMs(marker: string): number | null {
  const us = marker.split('-')[2]
  return us === undefined ? null : Math.ceil(Number(us) / 1000)
}

/**
 * Whether a message was appended after the end in this marker, even if it became visible later. By the numbers of the
 * feed: the clock may have stepped back meanwhile.
 */
export function cameAfter(
  { id, cursor }: { readonly id: string; readonly cursor: string | null },
  end: string,
): boolean {
  const { epoch, at } = positionOf(end)
  // All messages of a later life of the feed came later.
  return positionOf(cursor ?? '').epoch !== epoch || Number(id) > at
}

/** How far a reader has come in the life of `end`: a marker of another life is before all of it. */
export function reachedBy(marker: string, end: Position): number {
  const { epoch, at } = positionOf(marker)
  return epoch === end.epoch ? at : 0
}
