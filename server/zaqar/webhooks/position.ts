// Where a marker stands. Readers pass markers on and never look inside; whoever has to know which of two
// comes first asks here.

export interface Position {
  /** Of which life of the feed it is. */
  readonly epoch: number
  /** Rises along the feed. */
  readonly at: number
}

/** Before all others of any life. */
const START: Position = { epoch: 0, at: 0 }

/** A marker is `<epoch>-<position>`, and more behind it where delayed messages were shown. */
export function positionOf(marker: string): Position {
  const [epoch, at] = marker.split('-', 2).map(Number)
  return epoch === undefined || at === undefined ? START : { epoch, at }
}

/** When the delayed message becomes visible behind which this marker stands; null when it stands behind none. */
export function visibleAtMs(marker: string): number | null {
  const us = marker.split('-')[2]
  return us === undefined ? null : Math.ceil(Number(us) / 1000)
}

/**
 * Whether a message was appended behind the end that this marker tells, though it may have become visible later. By what the feed
 * counts: the clock may have stepped back meanwhile.
 */
export function cameAfter(
  { id, cursor }: { readonly id: string; readonly cursor: string | null },
  end: string,
): boolean {
  const { epoch, at } = positionOf(end)
  // Of a later life of the feed all came later.
  return positionOf(cursor ?? '').epoch !== epoch || Number(id) > at
}

/** How far a reader has come in the life of `end`: a marker of another life is before all of it. */
export function reachedBy(marker: string, end: Position): number {
  const { epoch, at } = positionOf(marker)
  return epoch === end.epoch ? at : 0
}
