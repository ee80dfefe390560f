// What the processes of a soak write down, and what must be true of it.

export interface Acked {
  kind: 'acked'
  by: string
  n: number
  id: string
}

/** The answer never came: it may be in the feed. */
export interface Unknown {
  kind: 'unknown'
  by: string
  n: number
}

export interface Seen {
  kind: 'seen'
  observer: string
  by: string
  n: number
  id: string
  lostBefore: string | null
}

/** A call was refused, or a rejection was not handled: never in a soak. */
export interface Broken {
  kind: 'broken'
  what: string
}

export type HistoryLine = Acked | Unknown | Seen | Broken

export interface Verdict {
  acked: number
  unknown: number
  observers: number
  /** One sentence a fault; empty when all is well. */
  faults: string[]
}

/** Every observer saw every acknowledged message once, in one order that respects each producer's. */
export function checkHistory(lines: readonly HistoryLine[]): Verdict {
  const acked = lines.filter((line) => line.kind === 'acked')
  const unknown = lines.filter((line) => line.kind === 'unknown')
  const broken = lines.filter((line) => line.kind === 'broken')
  const observers = groupBy(
    lines.filter((line) => line.kind === 'seen'),
    (line) => line.observer,
  )
  const faults = broken.map(({ what }) => what)
  const possible = new Set([...acked, ...unknown].map(nameOf))
  for (const [observer, seen] of observers) {
    faults.push(...checkObserver(observer, seen, acked, possible))
  }
  faults.push(...checkOneOrder([...observers.values()]))
  return { acked: acked.length, unknown: unknown.length, observers: observers.size, faults }
}

function checkObserver(
  observer: string,
  seen: readonly Seen[],
  acked: readonly Acked[],
  possible: ReadonlySet<string>,
): string[] {
  const names = new Set(seen.map(nameOf))
  const faults: string[] = []
  if (names.size !== seen.length) faults.push(`${observer} saw ${seen.length - names.size} messages twice`)
  const missed = acked.filter((line) => !names.has(nameOf(line)))
  if (missed.length > 0)
    faults.push(`${observer} missed ${missed.length}, first ${JSON.stringify(missed[0])}`)
  const invented = seen.filter((line) => !possible.has(nameOf(line)))
  if (invented.length > 0) faults.push(`${observer} saw ${JSON.stringify(invented[0])}, which nobody sent`)
  const lost = seen.filter((line) => line.lostBefore !== null)
  if (lost.length > 0) faults.push(`${observer} was told of a ${lost[0]?.lostBefore} where nothing was lost`)
  if (!rises(seen.map(({ id }) => Number(id)))) faults.push(`${observer} saw ids fall`)
  for (const [by, own] of groupBy(seen, (line) => line.by)) {
    if (!rises(own.map(({ n }) => n))) faults.push(`${observer} saw the messages of ${by} out of order`)
  }
  return faults
}

function checkOneOrder(observers: readonly (readonly Seen[])[]): string[] {
  const orders = new Set(observers.map((seen) => seen.map(nameOf).join('\n')))
  return orders.size > 1 ? [`observers saw ${orders.size} different orders`] : []
}

function rises(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))
}

function nameOf({ by, n }: { by: string; n: number }): string {
  return `${by} ${n}`
}

function groupBy<Line>(lines: readonly Line[], nameOfGroup: (line: Line) => string): Map<string, Line[]> {
  const groups = new Map<string, Line[]>()
  for (const line of lines) {
    const name = nameOfGroup(line)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [line])
    else group.push(line)
  }
  return groups
}
