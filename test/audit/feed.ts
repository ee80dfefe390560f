// See lua/shared/feed/state.lua, entry.lua, leases.lua, parked.lua, body.lua and work.lua. A dead-letter feed is stored
// next to its feed.

import type { Entry, Snapshot } from './snapshot.ts'

const OWN = [
  'meta',
  'log',
  'early',
  'bodies',
  'claimed',
  'leases',
  'returned',
  'work',
  'expiry',
  'delayed',
  'parked',
]
const OTHERS = ['once', 'subscribers', 'guards']
const DEAD = 'dead-'

export const PARTS: readonly string[] = [...OWN, ...OTHERS].flatMap((part) => [part, DEAD + part])

const STATE = [
  'epoch',
  'last',
  'front',
  'token',
  'trimmed',
  'bytes',
  'laneMs',
  'laneSwept',
  'laneLast',
  'dueAt',
]
const MORE = ['visibleAtUs', 'livesUntil', 'keptUntil', 'large', 'moved']

type State = Readonly<Record<string, number>>

export function faultsOf(unit: Snapshot): string[] {
  const dead = unit.under(DEAD)
  return [...oneOf(unit.without(DEAD)), ...oneOf(dead).map((fault) => `dead letters: ${fault}`)]
}

function oneOf(unit: Snapshot): string[] {
  const packed = unit.hash('meta').get('state')
  if (packed === undefined) {
    return OWN.filter((part) => part !== 'meta' && unit.has(part)).map((part) => `${part} without a state`)
  }
  const state = unpacked(packed)
  const messages = [...unit.entries('early'), ...unit.entries('log')].map(toMessage)
  return [
    ...orderFaults(unit, state, messages),
    ...byteFaults(unit, state, messages),
    ...claimFaults(unit, state, messages),
    ...expiryFaults(unit, messages),
    ...delayFaults(unit, state, messages),
    ...guardFaults(unit),
    ...endFaults(unit),
  ]
}

function unpacked(packed: Buffer): State {
  const names = [...STATE, ...MORE]
  return Object.fromEntries(
    names.map((name, at) => [name, at * 8 < packed.length ? packed.readDoubleBE(at * 8) : 0]),
  )
}

interface Message {
  readonly place: string
  readonly id: string
  readonly bytes: number
  readonly isApart: boolean
}

function toMessage({ place, fields }: Entry): Message {
  const size = fields.get('s')
  const moved = /#(\d+)$/.exec(fields.get('x')?.toString('latin1') ?? '')
  return {
    place,
    id: moved?.[1] ?? place,
    bytes: size === undefined ? (fields.get('b')?.length ?? 0) : Number(size),
    isApart: size !== undefined,
  }
}

function orderFaults(unit: Snapshot, { last = 0, moved = 0 }: State, messages: readonly Message[]): string[] {
  const places = messages.map(({ place }) => Number(place))
  const newest = places.at(-1) ?? 0
  return [
    ...(newest > last ? [`message ${newest} is above the newest position, ${last}`] : []),
    ...places
      .filter((place, at) => place <= (places[at - 1] ?? 0))
      .map((place) => `message ${place} is out of order`),
    ...unit
      .entries('early')
      .filter(({ place }) => Number(place) > moved)
      .map(({ place }) => `${place} is early, and not moved`),
    ...unit
      .entries('log')
      .filter(({ place }) => Number(place) <= moved)
      .map(({ place }) => `${place} is moved, and not early`),
  ]
}

/** Bodies are counted, and those that are stored separately exist, once. */
function byteFaults(unit: Snapshot, state: State, messages: readonly Message[]): string[] {
  const sum = messages.reduce((all, { bytes }) => all + bytes, 0)
  const apart = new Map(messages.filter(({ isApart }) => isApart).map(({ id, bytes }) => [id, bytes]))
  const large = [...apart.values()].reduce((all, bytes) => all + bytes, 0)
  for (const [id, text] of unit.hash('parked')) {
    const size = /^\d+ \S* (\d+)\n$/.exec(text.toString('latin1'))?.[1]
    if (size !== undefined) apart.set(id, Number(size))
  }
  const bodies = unit.hash('bodies')
  return [
    ...(state['bytes'] === sum ? [] : [`${state['bytes']} bytes are counted of ${sum}`]),
    ...(state['large'] === large ? [] : [`${state['large']} bytes of large bodies are counted of ${large}`]),
    ...[...apart]
      .filter(([id, bytes]) => bodies.get(id)?.length !== bytes)
      .map(([id]) => `the body of ${id} is not there`),
    ...[...bodies.keys()].filter((id) => !apart.has(id)).map((id) => `the body of ${id} is an orphan`),
  ]
}

/** Up to `front` each message is claimed, or free again; after it none is. */
function claimFaults(
  unit: Snapshot,
  { front = 0, token = 0 }: State,
  messages: readonly Message[],
): string[] {
  const places = new Set(messages.map(({ place }) => place))
  const claimed = unit.scores('claimed')
  const returned = unit.scores('returned')
  const leases = unit.scores('leases')
  const work = unit.hash('work')
  const known = [...work.keys()].filter((field) => !field.startsWith('lease:'))
  const seen = [...places].filter((place) => Number(place) <= front)
  const leased = [...work.keys()].filter((field) => field.startsWith('lease:')).map((field) => field.slice(6))
  return [
    ...orphans('claimed', claimed.keys(), places),
    ...orphans('returned', returned.keys(), places),
    ...orphans('work', known, places),
    ...[...claimed.keys()]
      .filter((place) => returned.has(place))
      .map((place) => `${place} is claimed and free`),
    ...[...claimed.keys(), ...returned.keys()]
      .filter((place) => Number(place) > front)
      .map((place) => `${place} is beyond the front`),
    ...seen
      .filter((place) => !claimed.has(place) && !returned.has(place))
      .map((place) => `${place} is neither claimed nor free`),
    ...[...new Set(claimed.values())]
      .filter((each) => !leases.has(String(each)))
      .map((each) => `claim ${each} has no lease`),
    ...[...claimed.keys()]
      .filter((place) => !work.has(place))
      .map((place) => `${place} is claimed, and no claim is counted`),
    ...[...leases.keys()]
      .filter((each) => Number(each) > token)
      .map((each) => `claim ${each} is above the newest token`),
    ...leased.filter((each) => !leases.has(each)).map((each) => `the length of claim ${each} is an orphan`),
  ]
}

function orphans(part: string, members: Iterable<string>, places: ReadonlySet<string>): string[] {
  return [...members].filter((place) => !places.has(place)).map((place) => `${place} in ${part} is an orphan`)
}

function expiryFaults(unit: Snapshot, messages: readonly Message[]): string[] {
  return orphans('expiry', unit.scores('expiry').keys(), new Set(messages.map(({ place }) => place)))
}

/** A delayed message is parked; one that was delayed has a mapping from its id to its present place. */
function delayFaults(unit: Snapshot, { visibleAtUs = 0 }: State, messages: readonly Message[]): string[] {
  const delayed = unit.scores('delayed')
  const parked = [...unit.hash('parked')].map(([id, text]): [string, string] => [id, text.toString('latin1')])
  const places = new Map(messages.map(({ id, place }) => [id, place]))
  const waiting = new Set(parked.filter(([, text]) => !text.startsWith('@')).map(([id]) => id))
  const soonest = Math.min(...delayed.values())
  return [
    ...[...delayed.keys()].filter((id) => !waiting.has(id)).map((id) => `${id} is delayed, and not parked`),
    ...[...waiting].filter((id) => !delayed.has(id)).map((id) => `${id} is parked, and never due`),
    ...parked
      .filter(([id, text]) => text.startsWith('@') && places.get(id) !== text.slice(1))
      .map(([id, text]) => `${id} leads to ${text}, and is at ${places.get(id) ?? 'no place'}`),
    ...messages
      .filter(({ id, place }) => id !== place && !parked.some(([each]) => each === id))
      .map(({ id, place }) => `nothing leads from ${id} to ${place}`),
    ...(delayed.size > 0 && (visibleAtUs === 0 || visibleAtUs > soonest)
      ? ['what is delayed is not looked for in time']
      : []),
  ]
}

function guardFaults(unit: Snapshot): string[] {
  const subscribers = unit.scores('subscribers')
  return [...unit.scores('guards')]
    .filter(([name, position]) => subscribers.get(name) !== position)
    .map(([name]) => `subscriber ${name} is protected where it is not`)
}

/** All keys of one feed end together. */
function endFaults(unit: Snapshot): string[] {
  const never = unit.leftMs('meta') === -1
  return unit.parts
    .filter((part) => OWN.includes(part) && (unit.leftMs(part) === -1) !== never)
    .map((part) => (never ? `${part} ends, and the feed does not` : `${part} never ends, and the feed does`))
}
