// Finds the servers behind an address: those of the URL, and those that they name.

import { type Place, showPlace } from './address.ts'
import { isReply, Link, messageOf } from './link.ts'
import { membersOf } from './members.ts'
import { type Info, infoOf, Node, type Range, type Role } from './node.ts'
import type { DoctorOptions, Found, Member, SentinelView, Unreached } from './server.ts'

type Outcome = Node | Unreached

const NOTHING: Found = { topology: null, nodes: [], unreached: [], sentinels: [], members: [] }

/** Never rejects: what was not reached is part of the result. */
export function discover(options: DoctorOptions): Promise<Found> {
  return options.address.topology === 'sentinel' ? bySentinels(options) : byServers(options)
}

async function byServers(options: DoctorOptions): Promise<Found> {
  const seeds = await Promise.all(options.address.places.map((place) => meet(place, options)))
  const [first] = nodesIn(seeds)
  if (first === undefined) return { ...NOTHING, unreached: unreachedIn(seeds) }
  const isCluster = options.address.topology === 'cluster' || first.info?.get('cluster_enabled') === '1'
  // Where INFO is refused, only a cluster lists its nodes.
  const members = isCluster || first.info === null ? await membersAt(first) : []
  if (!isCluster && members.length === 0) return withNeighbours(options, seeds)
  return ofCluster(options, seeds, members)
}

/** Replicas may have replicas: a chain of more is unlikely. */
const MOST_STEPS = 8

/** A node and those that replicate it, or that it replicates, and so on. */
async function withNeighbours(options: DoctorOptions, seeds: readonly Outcome[]): Promise<Found> {
  const outcomes = [...seeds]
  const meetNew = async (places: readonly Place[], role: Role): Promise<void> => {
    const known = new Set(outcomes.map(({ place }) => showPlace(place)))
    const fresh = new Map(places.map((place) => [showPlace(place), place]))
    for (const place of known) fresh.delete(place)
    outcomes.push(...(await Promise.all([...fresh.values()].map((place) => meet(place, options, role)))))
  }
  for (let step = 0, met = 0; step < MOST_STEPS && met < outcomes.length; step += 1) {
    met = outcomes.length
    const infos = nodesIn(outcomes).map(({ info }) => info)
    await meetNew(
      infos.map(primaryOf).filter((primary) => primary !== null),
      'primary',
    )
    await meetNew(infos.flatMap(replicasOf), 'replica')
  }
  return { ...NOTHING, topology: 'single', nodes: nodesIn(outcomes), unreached: unreachedIn(outcomes) }
}

async function ofCluster(
  options: DoctorOptions,
  seeds: readonly Outcome[],
  members: readonly Member[],
): Promise<Found> {
  for (const { link } of nodesIn(seeds)) link.close()
  // Without a list of members the nodes of the URL are all that is known.
  const wanted =
    members.length === 0 ? seeds.map(({ place }) => ({ place, role: 'unknown' as const })) : members
  const outcomes = await Promise.all(
    wanted.map((each) => meet(each.place, options, each.role, 'slots' in each ? each.slots : [])),
  )
  return {
    topology: 'cluster',
    nodes: nodesIn(outcomes),
    // A node of the URL that the cluster does not list is not part of it.
    unreached: [...unreachedIn(outcomes), ...unreachedIn(seeds).filter(isNotIn(outcomes))],
    sentinels: [],
    members,
  }
}

function isNotIn(outcomes: readonly Outcome[]): (each: Outcome) => boolean {
  const known = new Set(outcomes.map(({ place }) => showPlace(place)))
  return ({ place }) => !known.has(showPlace(place))
}

async function membersAt(node: Node): Promise<readonly Member[]> {
  try {
    return membersOf(String(await node.link.call('CLUSTER', 'NODES')), node.place)
  } catch {
    return [] // the check of the topology asks again, and says why
  }
}

async function bySentinels(options: DoctorOptions): Promise<Found> {
  const asked = await Promise.all(options.address.places.map((place) => askSentinel(place, options)))
  const sentinels = asked.filter((each) => 'quorum' in each)
  const silent = asked.filter((each) => 'error' in each)
  const named = sentinels.find(({ primary }) => primary !== null)?.primary ?? null
  if (named === null) {
    return { ...NOTHING, topology: sentinels.length > 0 ? 'sentinel' : null, unreached: silent, sentinels }
  }
  const found = await withNeighbours(options, [await meet(named, options, 'primary')])
  return { ...found, topology: 'sentinel', unreached: [...silent, ...found.unreached], sentinels }
}

async function askSentinel(place: Place, options: DoctorOptions): Promise<SentinelView | Unreached> {
  const name = options.address.masterName ?? ''
  let link: Link | null = null
  try {
    link = await Link.open(place, options.sentinelAccess)
    const answer = await link.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
    const primary = Array.isArray(answer) ? { host: String(answer[0]), port: Number(answer[1]) } : null
    const quorum = await link.call('SENTINEL', 'CKQUORUM', name).then(String, messageOf)
    return { place, primary, quorum }
  } catch (error) {
    return { place, role: 'sentinel', error }
  } finally {
    link?.close()
  }
}

/** `role` and `slots` are what others say of it. */
async function meet(
  place: Place,
  { access }: DoctorOptions,
  role: Role = 'unknown',
  slots: readonly Range[] = [],
): Promise<Outcome> {
  let link: Link | null = null
  try {
    link = await Link.open(place, access)
    const node = new Node(link, await infoOf(link), role, slots)
    if (node.role !== 'sentinel') return node
    throw new SentinelError(await namesAt(link))
  } catch (error) {
    link?.close()
    return { place, role, error }
  }
}

/** The address leads to a Sentinel, and does not say so. */
export class SentinelError extends Error {
  override readonly name = 'SentinelError'
  /** What it watches. */
  readonly names: readonly string[]

  constructor(names: readonly string[]) {
    super('this is a Sentinel')
    this.names = names
  }
}

async function namesAt(link: Link): Promise<string[]> {
  try {
    const masters = (await link.call('SENTINEL', 'MASTERS')) as readonly (readonly unknown[])[]
    return masters.map((fields) => String(fields[fields.indexOf('name') + 1]))
  } catch (error) {
    if (isReply(error)) return []
    throw error
  }
}

function primaryOf(info: Info | null): Place | null {
  const [host, port] = [info?.get('master_host'), info?.get('master_port')]
  return host === undefined || port === undefined ? null : { host, port: Number(port) }
}

/** Of the lines `slave0:ip=10.0.0.1,port=6379,state=online,…`. */
function replicasOf(info: Info | null): Place[] {
  return replicaLines(info).map((fields) => ({
    host: fields.get('ip') ?? '',
    port: Number(fields.get('port')),
  }))
}

export function replicaLines(info: Info | null): ReadonlyMap<string, string>[] {
  return [...(info ?? [])]
    .filter(([name]) => /^slave\d+$/.test(name))
    .map(([, value]) => new Map(value.split(',').map((pair) => pair.split('=') as [string, string])))
}

function nodesIn(outcomes: readonly Outcome[]): Node[] {
  return outcomes.filter((each) => each instanceof Node)
}

function unreachedIn(outcomes: readonly Outcome[]): Unreached[] {
  return outcomes.filter((each): each is Unreached => !(each instanceof Node))
}
