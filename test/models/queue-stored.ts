// What must hold of the keys of a queue, whatever happened to it. Nothing here knows the model.

import type { Redis } from 'ioredis'

const LOOK = `
local told = {}
for at, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key)['ok']
  if kind == 'hash' then
    told[at] = redis.call('HGETALL', key)
  elseif kind == 'list' then
    told[at] = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'zset' then
    told[at] = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  else
    told[at] = {}
  end
end
return told`
const PARTS = [
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
] as const

type Part = (typeof PARTS)[number]
type Stored = Readonly<Record<Part, readonly Buffer[]>>

const STATES: Readonly<Record<string, string>> = {
  r: 'ready',
  b: 'ready',
  s: 'scheduled',
  c: 'leases',
  x: 'leases',
  d: 'dead',
  f: 'done',
}

/** What is wrong, in words. */
export async function faultsOf(client: Redis, prefix: string): Promise<string[]> {
  const keys = PARTS.map((part) => `${prefix}:${part}`)
  const told = (await client.callBuffer('EVAL', LOOK, keys.length, ...keys)) as Buffer[][]
  const stored = Object.fromEntries(PARTS.map((part, at) => [part, told[at] ?? []])) as unknown as Stored
  return [
    ...placesOf(stored),
    ...fieldsOf(stored),
    ...groupsOf(stored),
    ...failuresOf(stored),
    ...namesOf(stored),
    ...dueOf(stored),
    ...tagsOf(stored),
  ]
}

function pairs(flat: readonly Buffer[]): [string, string][] {
  const even = flat.filter((_, at) => at % 2 === 0)
  const all = even.map((key, at): [string, string] => [
    key.toString('latin1'),
    (flat[at * 2 + 1] ?? Buffer.of()).toString('latin1'),
  ])
  // See shared/queue/wide.
  return all.filter(([key]) => !key.startsWith('~'))
}

function runsOf({ jobs }: Stored): Map<string, string> {
  const all = new Map(pairs(jobs))
  const numbers = [...all.keys()].filter((field) => /^\d/.test(field))
  return new Map(numbers.map((number) => [number, all.get(`r${number}`)?.[0] ?? 'r']))
}

/** Each job stands in the one place of its state, and nothing else stands anywhere. */
function placesOf(stored: Stored): string[] {
  const runs = runsOf(stored)
  const standing = (['scheduled', 'leases', 'dead', 'done'] as const).flatMap((part) =>
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

/** Nothing is stored of a job that is gone. */
function fieldsOf(stored: Stored): string[] {
  const runs = runsOf(stored)
  const fields = pairs(stored.jobs).map(([field]) => field)
  return fields.filter((field) => !runs.has(field.replace(/^\D/, ''))).map((field) => `${field} is an orphan`)
}

function groupsOf(stored: Stored): string[] {
  const turns = stored.turns.map(String)
  const scores = pairs(stored.grouped).map(([, score]) => score)
  const known = pairs(stored.groups).map(([name, text]) => [name, ...text.split(' ')])
  return [
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

/** Claimed jobs of a group, by their records: see shared/queue/job for where the group's name stands. */
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
    .map(([name]) => `${name} is held by nobody`)
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

/** See shared/queue/job: group, id, unique, trace and tags stand one behind the other. */
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
