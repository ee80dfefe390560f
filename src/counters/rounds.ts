// Rounds: what was noted is asked for, then rows are rolled up, then what they came to is shown. Whatever was noted before the
// rows were read is in them, so a value is what SQL has and what was noted since. Every step may be repeated or left out by
// anybody: versions of SQL are shown one after the other, and a partition that has missed one is read anew.

import { type NotedAnswer, noted, type ShowAnswer, show } from '../generated/counters.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { rest } from '../runtime/time/in-time.ts'
import { type Board, elsewhere, placeOf } from './board.ts'
import type { RolledUp } from './count-source.ts'
import type { NoteRefused } from './refusals.ts'
import { patiently } from './sink-calls.ts'
import { inPages, MAX_A_CALL, partitionFor } from './source.ts'

/** What rounds have brought. */
export interface RolledRows {
  /** Rows that were counted. */
  readonly events: number
}

export interface Round {
  /** Counters that are shown whether anything of them changed or not. */
  readonly ids: readonly string[]
  readonly recount: boolean
  readonly signal?: AbortSignal | undefined
}

/** How far rounds have come with what was there when the first of them began; what comes meanwhile is no reason for another. */
interface Progress {
  /** Of notes, by partition. */
  readonly cursors: readonly string[]
  /** Whether all that had notes were asked for, by partition. */
  readonly isTold: readonly boolean[]
  /** Of rows; '': none is known, or all are taken. */
  readonly until: string
  readonly isTaken: boolean
}

/** What a partition told before a round rolled up. */
type PartitionNotes = Exclude<NotedAnswer, { status: 'elsewhere' }>

/** What is shown of a counter. */
interface ShownItem {
  readonly id: string
  /** '': SQL does not know it. */
  readonly value: string
  readonly taken: string
}

const FIRST_PAGE = '0'
const NO_VERSION = -1
const FIRST_PAUSE_MS = 20

/** Rolls up and shows what is there when it begins. Throws SinkError, DriverError, or the reason of the signal. */
export async function runRounds(board: Board, round: Round): Promise<RolledRows> {
  return board.refusals.telling(board.counts.name, (note) => runEach(board, round, note))
}

async function runEach(board: Board, round: Round, note: NoteRefused): Promise<RolledRows> {
  let events = 0
  // Beside what is asked first: a server that is away takes one deadline, and not two.
  const checked = board.number.check()
  checked.catch(() => undefined)
  let progress: Progress = {
    cursors: board.partitions.map(() => FIRST_PAGE),
    isTold: board.partitions.map(() => false),
    until: '',
    isTaken: false,
  }
  for (let next = round; ; next = { ...next, ids: [], recount: false }) {
    round.signal?.throwIfAborted()
    const done = await runRound(board, next, progress, checked, note)
    events += done.events
    progress = done.progress
    if (progress.isTaken && progress.isTold.every(Boolean)) break
  }
  const { counts, sqlName, refusals, runtime } = board
  await refusals.retry(counts, sqlName, { patienceMs: runtime.runner.deadlineMs, signal: round.signal })
  // Whoever has left is told nothing: the next one is.
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
  const { counts, sqlName, batchSize, runtime, partitions } = board
  const before = await askNoted(board, progress, round.signal)
  await checked
  const waiting = before.flatMap(({ counters }) => counters.map(({ id }) => id))
  const ids = [...new Set([...round.ids, ...waiting])]
  const asked = { counters: sqlName, ids, limit: batchSize, recount: round.recount }
  const until = progress.until === '' ? undefined : progress.until
  const { deadlineMs, deadlines } = runtime.runner
  // Also what comes too late for whoever waits is done, and no other round meets what it refused.
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

/** What has notes, of each partition. Throws SinkError where others show counts of another place there. */
async function askNoted(
  board: Board,
  { cursors }: Progress,
  signal?: AbortSignal,
): Promise<PartitionNotes[]> {
  const { partitions, runtime } = board
  const { deadlineMs, deadlines } = runtime.runner
  const limit = Math.ceil(MAX_A_CALL / Math.min(partitions.length, 20))
  const place = await patiently(() => placeOf(board), deadlineMs, deadlines, signal)
  return Promise.all(
    partitions.map(async (partition, at) => {
      const answer = await partition.run(noted, { limit, cursor: cursors[at] ?? FIRST_PAGE, place })
      if (answer.status === 'elsewhere') throw elsewhere(board, answer.place, place)
      return answer
    }),
  )
}

/** A partition that is through begins anew with its notes as long as others are not. */
function progressAfter(
  { isTold, isTaken }: Progress,
  before: readonly PartitionNotes[],
  rolled: RolledUp,
): Progress {
  const cursors = before.map(({ cursor }) => cursor)
  return {
    cursors,
    isTold: cursors.map((cursor, at) => cursor === FIRST_PAGE || isTold[at] === true),
    until: rolled.until,
    isTaken: isTaken || !rolled.more,
  }
}

/** What there is to show, by partition. */
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

/** The newest version of SQL that anything shown was of before the round. */
function newestOf(before: PartitionNotes): number {
  return before.status === 'ahead' ? Math.max(before.newest, before.version) : before.version
}

/** What a round has rolled up: page after page, and behind the version that it follows. */
async function showPartition(
  { retainMs, gapTries, runtime }: Board,
  partition: Unit,
  { version, since }: RolledUp,
  before: PartitionNotes | undefined,
  items: readonly ShownItem[] = [],
): Promise<void> {
  let { turn = 0, version: seen = 0 } = before ?? {}
  // A database that had not come so far as it was rolled up came back with an old copy: what is shown may be of a time that it
  // knows nothing of.
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

/** One whose version before stays away goes on without: that was lost with whoever was to show it. */
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
