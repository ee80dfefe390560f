// Invariants of the keys of a queue after any history. Nothing here knows the model.

import type { Snapshot } from './snapshot.ts'

const AUDITED = [
  'meta',
  'jobs',
  'ready',
  'prioritized',
  'scheduled',
  'leases',
  'grouped',
  'dead',
  'done',
  'failed',
  'groups',
  'turns',
  'kinds',
  'ids',
  'tagged',
  'blocked',
  'children',
  'outbox',
] as const

type Part = (typeof AUDITED)[number]
type Stored = Readonly<Record<Part, readonly Buffer[]>>

const STATES: Readonly<Record<string, string>> = {
  r: 'ready',
  b: 'ready',
  s: 'scheduled',
  w: 'blocked',
  c: 'leases',
  x: 'leases',
  d: 'dead',
  f: 'done',
}

const OTHERS = ['held', 'idle', 'inbox', 'listeners', 'notes', 'outbox', 'parents', 'recurrences']
const MORE = ['recurring', 'results', 'short', 'stats']

export const PARTS: readonly string[] = [...AUDITED, ...OTHERS, ...MORE]

export function faultsOf(unit: Snapshot): string[] {
  const stored = Object.fromEntries(AUDITED.map((part) => [part, unit.flat(part)])) as unknown as Stored
  return [
    ...placesOf(stored),
    ...fieldsOf(stored),
    ...groupsOf(stored),
    ...failuresOf(stored),
    ...namesOf(stored),
    ...dueOf(stored),
    ...tagsOf(stored),
    ...linksOf(stored),
    ...sizesOf(stored),
    ...outboxOf(stored),
  ]
}

function pairs(flat: readonly Buffer[]): [string, string][] {
  const even = flat.filter((_, at) => at % 2 === 0)
  const all = even.map((key, at): [string, string] => [
    key.toString('latin1'),
    (flat[at * 2 + 1] ?? Buffer.of()).toString('latin1'),
  ])
  // See shared/queue/state.
  return all.filter(([key]) => !key.startsWith('~'))
}

function runsOf({ jobs }: Stored): Map<string, string> {
  const all = new Map(pairs(jobs))
  const numbers = [...all.keys()].filter((field) => /^\d/.test(field))
  return new Map(numbers.map((number) => [number, all.get(`r${number}`)?.[0] ?? 'r']))
}

/** Each job is stored in the one place of its state, and nothing else is stored anywhere. */
function placesOf(stored: Stored): string[] {
  const runs = runsOf(stored)
  const standing = (['scheduled', 'blocked', 'leases', 'dead', 'done'] as const).flatMap((part) =>
    pairs(stored[part]).map(([number]): [string, string] => [number, part]),
  )
  const misplaced = standing.filter(([number, part]) => STATES[runs.get(number) ?? ''] !== part)
  const sorted = [
    ...pairs(stored.prioritized),
    ...pairs(stored.grouped).map(([member]) => [member.slice(10)] as const),
  ]
  const ready = sorted.map(([number]) => number)
  const listed = new Set(stored.ready.map(String))
  const lost = [...runs].filter(([number, state]) => {
    if (STATES[state] !== 'ready') return !standing.some(([other]) => other === number)
    return !ready.includes(number) && !listed.has(number)
  })
  return [
    ...misplaced.map(([number, part]) => `${number} stands in ${part} but is ${runs.get(number) ?? 'gone'}`),
    ...ready
      .filter((number) => STATES[runs.get(number) ?? ''] !== 'ready')
      .map((number) => `${number} stands ready`),
    ...(new Set(ready).size < ready.length ? ['a job stands twice among the ready ones'] : []),
    ...lost.map(([number, state]) => `${number} is ${state} and stands nowhere`),
  ]
}

/** Nothing is stored of a removed job. */
function fieldsOf(stored: Stored): string[] {
  const runs = runsOf(stored)
  const fields = pairs(stored.jobs).map(([field]) => field)
  // Dependencies may be removed, and messages to other queues have numbers of their own.
  const own = fields.filter((field) => !/^[yzox]/.test(field))
  return own.filter((field) => !runs.has(field.replace(/^\D/, ''))).map((field) => `${field} is an orphan`)
}

const BURST = '\u00ff'

function groupsOf(stored: Stored): string[] {
  const turns = stored.turns.map((name) => name.toString('latin1'))
  const scores = pairs(stored.grouped).map(([, score]) => score)
  const all = pairs(stored.groups)
  // See shared/queue/state: bursts of groups are stored with the settings, together with their number.
  const bursts = all.filter(([name]) => name.startsWith(BURST) && name !== BURST)
  const counted = Number(new Map(all).get(BURST) ?? 0)
  const known = all
    .filter(([name]) => !name.startsWith(BURST))
    .map(([name, text]) => [name, ...text.split(' ')])
  return [
    ...(bursts.length === counted ? [] : [`${counted} bursts are counted of ${bursts.length}`]),
    ...(new Set(turns).size < turns.length ? ['a group has two turns'] : []),
    ...turns
      .filter((name) => !known.some(([other]) => other === name))
      .map((name) => `${name} has a turn and is gone`),
    ...known.flatMap(([name = '', number, ready, claimed, inRing, paused, concurrency]) => {
      const found = scores.filter((score) => score === number).length
      const held = claimedOf(stored, name)
      const may = found > 0 && paused === '0' && (concurrency === '0' || held < Number(concurrency))
      return [
        ...(Number(ready) === found ? [] : [`${name} counts ${ready} ready ones of ${found}`]),
        ...(Number(claimed) === held ? [] : [`${name} counts ${claimed} claimed ones of ${held}`]),
        ...((inRing === '1') === turns.includes(name) ? [] : [`${name} is in the ring or not`]),
        ...(may && inRing === '0' ? [`${name} may be served and is not in the ring`] : []),
      ]
    }),
  ]
}

/** Claimed jobs of a group, by their records: see shared/queue/job for the position of the group's name. */
function claimedOf(stored: Stored, group: string): number {
  const records = new Map(pairs(stored.jobs))
  return pairs(stored.leases).filter(([number]) => {
    const record = Buffer.from(records.get(number) ?? '\u0001', 'latin1')
    if (record[0] !== 0) return false
    const at = 3 + record.readUInt16BE(1) + 20
    return record.toString('latin1', at + 2, at + 2 + record.readUInt16BE(at)) === group
  }).length
}

function failuresOf(stored: Stored): string[] {
  const dead = pairs(stored.dead).map(([number]) => number)
  const failed = pairs(stored.failed)
  const kinds = pairs(stored.kinds).map(([, text]) => text.split(' '))
  const counted = kinds.map(([number, count]) => [number, Number(count)])
  const found = kinds.map(([number]) => [number, failed.filter(([, kind]) => kind === number).length])
  return [
    ...(dead.toSorted().join() ===
    failed
      .map(([number]) => number)
      .toSorted()
      .join()
      ? []
      : ['dead and failed differ']),
    ...(String(counted) === String(found) ? [] : [`kinds count ${String(counted)}, found ${String(found)}`]),
    ...(found.reduce((sum, [, count]) => sum + Number(count), 0) === dead.length
      ? []
      : ['a kind is missing']),
  ]
}

/** An id, and a key that is not held for a time, belongs to a job that is there. */
function namesOf(stored: Stored): string[] {
  const runs = runsOf(stored)
  return pairs(stored.ids)
    .filter(([, text]) => !/ w \d+$/.test(text) && !runs.has(text.split(' ')[0] ?? ''))
    .map(([name]) => `${name} has no holder`)
}

/** Each tag of a job is in the index, and an empty one of each that is tracked, and nothing else. */
function tagsOf({ jobs, tagged }: Stored): string[] {
  const all = new Map(pairs(jobs))
  const expected = [...all].flatMap(([number, text]) => {
    if (!/^\d/.test(number)) return []
    const run = Buffer.from(all.get(`r${number}`) ?? '', 'latin1')
    const flags = run.length === 0 ? 0 : run.readUInt8(1 + 8 + 2 + 8 + 4)
    const tags = tagsIn(Buffer.from(text, 'latin1'))
    return [...tags, ...(flags >= 16 && flags % 32 >= 16 ? [''] : [])].map((tag) => `${tag}\0${number}`)
  })
  const found = pairs(tagged).map(([member]) => member)
  const [first, second] = [expected.toSorted().join(), found.toSorted().join()]
  return first === second ? [] : [`tags are ${first}, and in the index ${second}`]
}

/** See shared/queue/job: group, id, unique, trace and tags are stored in this order. */
function tagsIn(record: Buffer): string[] {
  if (record[0] !== 0) return []
  let at = 3 + record.readUInt16BE(1) + 20
  for (let text = 0; text < 4; text += 1) at += 2 + record.readUInt16BE(at)
  const tags = record.toString('latin1', at + 2, at + 2 + record.readUInt16BE(at))
  return tags === '' ? [] : tags.split('\0')
}

/** Nothing is due, and no lease ends, before the queue says; see shared/queue/state for where it does. */
function dueOf(stored: Stored): string[] {
  const state = Buffer.from(new Map(pairs(stored.meta)).get('state') ?? '', 'latin1')
  const dueMs = state.length === 0 ? 0 : state.readDoubleBE(11 * 8)
  const times = [...pairs(stored.scheduled), ...pairs(stored.leases)].map(([, score]) => Number(score))
  return times.some((time) => time < dueMs) ? [`something is due before ${dueMs}`] : []
}

/** The head, and a ref for each dependency; none where all were taken away. */
function partsOf(wants: string): string[] {
  return wants.split('\0').filter((part) => part !== '')
}

/** See shared/queue/dependencies: which jobs wait for which, and how many jobs name a dependency. */
function linksOf(stored: Stored): string[] {
  const runs = runsOf(stored)
  const all = pairs(stored.jobs)
  const dependenciesOf = new Map(
    all.filter(([field]) => /^d\d/.test(field)).map(([field, text]) => [field.slice(1), partsOf(text)]),
  )
  const named = [...dependenciesOf.values()].flatMap(([, ...refs]) => refs)
  const links = pairs(stored.children).map(([member]) => member)
  const waiting = links.filter((member) => /\0\d+$/.test(member)).map((member) => member.split('\0'))
  return [
    ...waiting
      .filter(([ref = '', dependent = '']) => !dependenciesOf.get(dependent)?.includes(ref))
      .map(([ref, dependent]) => `${dependent} waits for ${ref}, and does not name it`),
    ...[...dependenciesOf].flatMap(([dependent, [head = '']]) => {
      // A job that died because a dependency died still has the number of its dependencies.
      const left = runs.get(dependent) === 'w' ? Number(/^.(\d+)/.exec(head)?.[1]) : 0
      const found = waiting.filter(([, each]) => each === dependent).length
      return left === found ? [] : [`${dependent} waits for ${left}, and stands behind ${found}`]
    }),
    ...[...runs]
      .filter(([job, state]) => state === 'w' && !dependenciesOf.has(job))
      .map(([job]) => `${job} is blocked without a dependency`),
    ...all
      .filter(([field]) => field.startsWith('y'))
      .filter(([field, count]) => named.filter((ref) => ref === field.slice(1)).length !== Number(count))
      .map(([field, count]) => `${count} name ${field.slice(1)}, and others do`),
    ...named
      .filter((ref) => !all.some(([field]) => field === `y${ref}`))
      .map((ref) => `${ref} is named, and not counted`),
    ...all
      .filter(([field]) => field.startsWith('z'))
      .filter(
        ([field]) =>
          !all.some(([other]) => other === `y${field.slice(1)}`) &&
          !links.some((link) => link.startsWith(`${field.slice(1)}\0`)),
      )
      .map(([field]) => `the end of ${field.slice(1)} is an orphan`),
  ]
}

const SIZES = ['ready', 'scheduled', 'blocked', 'claimed', 'dead', 'done'] as const
const SIZES_AT = 23 * 8
const SIZE_OF: Readonly<Record<string, number>> = { r: 0, b: 0, s: 1, w: 2, c: 3, x: 3, d: 4, f: 5 }

/** The bytes of all jobs, by state; see shared/queue/state. */
function sizesOf(stored: Stored): string[] {
  const state = Buffer.from(new Map(pairs(stored.meta)).get('state') ?? '', 'latin1')
  if (state.length === 0) return []
  const all = new Map(pairs(stored.jobs))
  const sums = SIZES.map(() => 0)
  for (const [job, letter] of runsOf(stored)) {
    const run = Buffer.from(all.get(`r${job}`) ?? '', 'latin1')
    const at = SIZE_OF[letter] ?? 0
    sums[at] =
      (sums[at] ?? 0) + (run.length === 0 ? (all.get(job)?.length ?? 0) : run.readUInt32BE(1 + 8 + 2 + 8))
  }
  const said = SIZES.map((_, at) => state.readDoubleBE(SIZES_AT + at * 8))
  return SIZES.flatMap((name, at) =>
    said[at] === sums[at] ? [] : [`${name}: ${said[at]} bytes are counted of ${sums[at]}`],
  )
}

/** Messages to other queues are in the outbox, and each number in it has a message. */
function outboxOf(stored: Stored): string[] {
  const numbers = new Set(pairs(stored.outbox).map(([number]) => number))
  const announced = pairs(stored.jobs)
    .map(([field]) => field)
    .filter((field) => field.startsWith('x'))
    .map((field) => field.slice(1))
  return [
    ...announced
      .filter((number) => !numbers.has(number))
      .map((number) => `message ${number} is in no outbox`),
    ...[...numbers]
      .filter((number) => !announced.includes(number))
      .map((number) => `message ${number} says nothing`),
  ]
}
