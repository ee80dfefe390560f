// A round collects the ids with notes, rolls up the rows, and then shows the new counts. A note that came before the
// rows were read is included in them, so a value is the count in SQL plus the later notes. Any process may repeat or
// skip any step: versions of SQL are shown in their order, and a partition that missed one is read again.

import { type NotedAnswer, noted, type ShowAnswer, show } from '../generated/counters.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { rest } from '../runtime/time/in-time.ts'
import { type Board, locationOf } from './board.ts'
import type { RolledUp } from './count-source.ts'
import { elsewhere } from './place.ts'
import type { NoteRefused } from './refusals.ts'
import { patiently } from './sink-calls.ts'
import { inPages, MAX_A_CALL, partitionFor } from './source.ts'

/** The result of rounds. */
export interface RolledRows {
  /** Rows that were counted. */
  readonly events: number
}

export interface Round {
  /** Counters to show even if they have not changed. */
  readonly ids: readonly string[]
  readonly recount: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * How far rounds have come with the rows and notes that existed when the first of them began; later ones do not cause
 * another round.
 */
interface Progress {
  /** Cursors over the notes, by partition. */
  readonly cursors: readonly string[]
  /** Whether all counters with notes were collected, by partition. */
  readonly isCollected: readonly boolean[]
  /** Position among the rows; '' if it is unknown, or all are counted. */
  readonly until: string
  readonly isTaken: boolean
}

/** The answer of a partition before a round rolled up. */
type PartitionNotes = Exclude<NotedAnswer, { status: 'elsewhere' }>

/** A value to show. */
interface ShownItem {
  readonly id: string
  /** '' if SQL does not have it. */
  readonly value: string
  readonly taken: string
}

const FIRST_PAGE = '0'
const NO_VERSION = -1
const FIRST_PAUSE_MS = 20

/**
 * Rolls up and shows the rows and notes that exist at its start. Throws SinkError, DriverError, or the reason of the
 * signal.
 */
export async function runRounds(board: Board, round: Round): Promise<RolledRows> {
  return board.refusals.reporting(board.counts.name, (note) => runEach(board, round, note))
}

async function runEach(board: Board, round: Round, note: NoteRefused): Promise<RolledRows> {
  let events = 0
  // Parallel to the first query: a server that is away then costs one deadline instead of two.
  const checked = board.number.check()
  checked.catch(() => undefined)
  let progress: Progress = {
    cursors: board.partitions.map(() => FIRST_PAGE),
    isCollected: board.partitions.map(() => false),
    until: '',
    isTaken: false,
  }
  for (let next = round; ; next = { ...next, ids: [], recount: false }) {
    round.signal?.throwIfAborted()
    const done = await runRound(board, next, progress, checked, note)
    events += done.events
    progress = done.progress
    if (progress.isTaken && progress.isCollected.every(Boolean)) break
  }
  const { counts, sqlName, refusals, runtime } = board
  await refusals.retry(counts, sqlName, { patienceMs: runtime.runner.deadlineMs, signal: round.signal })
  // After an abort the refusals are kept for the next flush to report.
  round.signal?.throwIfAborted()
  return { events }
}

interface Rounded {
  readonly events: number
  readonly progress: Progress
}

async function runRound(
  board: Board,
  round: Round,
  progress: Progress,
  checked: Promise<void>,
  note: NoteRefused,
): Promise<Rounded> {
  const { counts, sqlName, batchSize, runtime, partitions, number } = board
  const before = await askNoted(board, progress, round.signal)
  await Promise.all([checked, number.place.ensure(performance.now() + runtime.runner.deadlineMs)])
  const waiting = before.flatMap(({ counters }) => counters.map(({ id }) => id))
  const ids = [...new Set([...round.ids, ...waiting])]
  const asked = { counters: sqlName, ids, limit: batchSize, recount: round.recount }
  const until = progress.until === '' ? undefined : progress.until
  const { deadlineMs, deadlines } = runtime.runner
  // A roll-up that finishes too late for its caller has still been done, and no other round sees its refusals.
  const rollUpOnce = async (isSure: boolean): Promise<RolledUp> => {
    const rolled = await counts.rollUp({ ...asked, until, isSure })
    note(rolled.refused ?? [])
    return rolled
  }
  const rollUp = (isSure: boolean): Promise<RolledUp> =>
    patiently((by) => board.rollingUp.run(() => rollUpOnce(isSure), by), deadlineMs, deadlines, round.signal)
  let rolled = await rollUp(false)
  const isIdle = rolled.version === rolled.since
  if (isIdle && before.some((each) => newestOf(each) > rolled.since)) rolled = await rollUp(true)
  const items = itemsOf(board, rolled, ids, before)
  await Promise.all(
    partitions.map((partition, at) =>
      showPartition(board, partition, rolled, before[at], items.get(partition)),
    ),
  )
  return { events: rolled.events, progress: progressAfter(progress, before, rolled) }
}

/** The counters with notes, by partition. Throws SinkError if a partition shows counts of another place in SQL. */
async function askNoted(
  board: Board,
  { cursors }: Progress,
  signal?: AbortSignal,
): Promise<PartitionNotes[]> {
  const { partitions, runtime } = board
  const { deadlineMs, deadlines } = runtime.runner
  const limit = Math.ceil(MAX_A_CALL / Math.min(partitions.length, 20))
  const location = await patiently(() => locationOf(board), deadlineMs, deadlines, signal)
  return Promise.all(
    partitions.map(async (partition, at) => {
      const answer = await partition.run(noted, { limit, cursor: cursors[at] ?? FIRST_PAGE, place: location })
      if (answer.status === 'elsewhere') throw elsewhere(board.name, answer.place, location)
      return answer
    }),
  )
}

/** A partition that has finished reads its notes again from the start as long as others have not. */
function progressAfter(
  { isCollected, isTaken }: Progress,
  before: readonly PartitionNotes[],
  rolled: RolledUp,
): Progress {
  const cursors = before.map(({ cursor }) => cursor)
  return {
    cursors,
    isCollected: cursors.map((cursor, at) => cursor === FIRST_PAGE || isCollected[at] === true),
    until: rolled.until,
    isTaken: isTaken || !rolled.more,
  }
}

/** The values to show, by partition. */
function itemsOf(
  board: Board,
  { values }: RolledUp,
  ids: readonly string[],
  before: readonly PartitionNotes[],
): Map<Unit, ShownItem[]> {
  const taken = new Map(before.flatMap(({ counters }) => counters.map(({ id, sum }) => [id, sum])))
  const items = new Map<Unit, ShownItem[]>()
  for (const id of new Set([...values.keys(), ...ids])) {
    const item = { id, value: values.get(id)?.toString() ?? '', taken: taken.get(id) ?? '' }
    const partition = partitionFor(board, id)
    const known = items.get(partition)
    if (known === undefined) items.set(partition, [item])
    else known.push(item)
  }
  return items
}

/** The newest SQL version among the values shown before the round. */
function newestOf(before: PartitionNotes): number {
  return before.status === 'ahead' ? Math.max(before.newest, before.version) : before.version
}

/** Shows the result of a roll-up: page after page, and after the version that it follows. */
async function showPartition(
  { retainMs, gapTries, runtime }: Board,
  partition: Unit,
  { version, since }: RolledUp,
  before: PartitionNotes | undefined,
  items: readonly ShownItem[] = [],
): Promise<void> {
  let { turn = 0, version: seen = 0 } = before ?? {}
  // If the database has an older version than the values shown, it came back with an old copy and does not know them.
  const isBehind = before !== undefined && newestOf(before) > since
  if (version === since && seen === version && !isBehind) return
  const pages = items.length === 0 ? [[]] : inPages(items)
  let left = isBehind ? seen : NO_VERSION
  for (const [at, counters] of pages.entries()) {
    const page = { version, since, last: at === pages.length - 1, retainMs, counters }
    const terms = { left, most: gapTries, deadlines: runtime.runner.deadlines }
    const answer = await showPage(partition, (missing) => ({ ...page, turn, seen: missing }), terms)
    if (answer.status !== 'shown') return
    turn = answer.turn
    left = NO_VERSION
  }
}

type PageOf = (seen: number) => Parameters<typeof show.encode>[0]

/**
 * If the previous version does not appear, it was lost with the process that was to show it, and this one is shown
 * without it.
 */
async function showPage(
  partition: Unit,
  page: PageOf,
  { left, most, deadlines }: { left: number; most: number; deadlines: Deadlines },
): Promise<ShowAnswer> {
  let answer = await partition.run(show, page(left))
  for (let tries = 0; answer.status === 'gap'; tries++) {
    const { version } = answer
    if (tries < most) await rest(FIRST_PAUSE_MS * 2 ** tries, deadlines)
    answer = await partition.run(show, page(tries < most ? NO_VERSION : version))
  }
  return answer
}
