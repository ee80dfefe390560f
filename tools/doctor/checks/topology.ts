import { showPlace } from '../address.ts'
import type { Check } from '../check.ts'
import { combine, fail, type Finding, listed, ok, unknown, warn } from '../finding.ts'
import { isReply, messageOf } from '../link.ts'
import { membersOf } from '../members.ts'
import type { Node, Range } from '../node.ts'
import type { Member, SentinelView, Server } from '../server.ts'
import { count } from '../words.ts'

const SLOTS = 16_384

export const topology: Check = {
  id: 'topology',
  title: 'Topology',
  essential: true,
  examine(server) {
    if (server.found.topology === 'sentinel') return ofSentinels(server)
    if (server.isCluster) return ofCluster(server)
    const replicas = server.nodes.length - 1
    const others =
      replicas === 0
        ? 'it knows no other server'
        : `${count(replicas, 'other server')} with the same data belong to it`
    return ok(`This is one server without Cluster; ${others}.`, { topology: 'single', replicas })
  },
}

function ofSentinels(server: Server): Finding {
  const { sentinels } = server.found
  const name = server.options.address.masterName ?? ''
  const asked = server.options.address.places.length
  const primaries = new Set(sentinels.flatMap(({ primary }) => (primary === null ? [] : showPlace(primary))))
  const details = { topology: 'sentinel', sentinels: sentinels.map(viewOf), primaries: [...primaries] }
  const findings = [
    ok(`${count(sentinels.length, 'Sentinel')} of ${asked} name the same primary for ${name}.`),
  ]
  if (primaries.size > 1) {
    const why = `The Sentinels disagree about the primary: ${[...primaries].join(', ')}.`
    findings.push(fail(why, 'Wait for the end of a failover, then check the network between the Sentinels.'))
  }
  for (const { place, quorum } of sentinels) {
    if (quorum.startsWith('OK')) continue
    const why = `Sentinel ${showPlace(place)} could not fail over: ${quorum.replace(/^NOQUORUM /, '')}.`
    findings.push(warn(why, 'Start the missing Sentinels, or correct the quorum.'))
  }
  if (asked < 3) {
    const why = `The URL names ${count(asked, 'Sentinel')}; a program that knows fewer than three may lose all of them at once.`
    findings.push(warn(why, 'Run three Sentinels, and name all of them in the URL.'))
  }
  return combine(findings, details)
}

function viewOf({ place, primary, quorum }: SentinelView): object {
  return { sentinel: showPlace(place), primary: primary === null ? null : showPlace(primary), quorum }
}

async function ofCluster(server: Server): Promise<Finding> {
  const { members } = server.found
  if (members.length === 0) return refused(server)
  const holes = holesIn(members.flatMap(({ slots }) => slots))
  const primaries = members.filter(({ role, slots }) => role === 'primary' && slots.length > 0)
  const details = { topology: 'cluster', primaries: primaries.length, members: members.length, holes }
  const findings = [
    ok(
      `The cluster has ${count(primaries.length, 'primary').replace('primarys', 'primaries')} and ${count(members.length - primaries.length, 'replica')}, and all ${SLOTS} slots are served.`,
    ),
  ]
  if (holes.length > 0) findings.push(withHoles(holes))
  findings.push(...members.flatMap(troubleOf), ...(await disagreements(server)))
  const moving = (await membersAtAll(server)).flatMap(({ open }) => open)
  if (moving.length > 0) {
    const why = `${count(moving.length, 'slot')} is on the move or was left half moved: ${listed(moving)}.`
    findings.push(warn(why, 'Finish the move: redis-cli --cluster fix.', { moving }))
  }
  return combine(findings, details)
}

async function refused(server: Server): Promise<Finding> {
  const [node] = server.nodes
  if (node === undefined) return unknown('The doctor reached no node.')
  try {
    await node.link.call('CLUSTER', 'NODES')
    return unknown('The cluster lists no nodes.')
  } catch (error) {
    if (!isReply(error)) throw error
    if (messageOf(error).includes('cluster support disabled')) {
      return fail('The server is not part of a cluster.', 'Use redis:// instead of redis+cluster://.')
    }
    return unknown('The user may not run CLUSTER NODES, so the nodes are not known.', 'Grant +cluster|nodes.')
  }
}

function withHoles(holes: readonly Range[]): Finding {
  const missing = holes.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  const ranges = listed(holes.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)))
  const why = `No node serves ${count(missing, 'slot')} (${ranges}): calls for keys in them fail.`
  return fail(why, 'Start the lost node, or give its slots to others: redis-cli --cluster fix.')
}

/** The ranges without an owner. */
export function holesIn(ranges: readonly Range[]): Range[] {
  const holes: Range[] = []
  let next = 0
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > next) holes.push([next, first - 1])
    next = Math.max(next, last + 1)
  }
  if (next < SLOTS) holes.push([next, SLOTS - 1])
  return holes
}

function troubleOf({ place, role, troubles, connected }: Member): Finding[] {
  if (troubles.length === 0 && connected) return []
  const name = showPlace(place)
  const said = troubles.includes('fail') ? 'has failed' : 'does not answer the others'
  const mend = 'Start the node, or let the others forget it: CLUSTER FORGET.'
  return [
    role === 'primary'
      ? fail(`The primary ${name} ${said}.`, mend)
      : warn(`The replica ${name} ${said}.`, mend),
  ]
}

/** Nodes that see other owners than the first node does: their clients are sent to and fro. */
async function disagreements(server: Server): Promise<Finding[]> {
  const views = await Promise.all(server.nodes.map((node) => viewAt(node)))
  const known = views.flatMap((view) => view ?? [])
  if (new Set(known.map(({ owners }) => owners)).size < 2) return []
  const names = listed(known.filter(({ owners }) => owners !== known[0]?.owners).map(({ name }) => name))
  const why = `The nodes disagree about who serves which slot: ${names} differ from ${known[0]?.name}.`
  return [warn(why, 'Wait for the end of a failover or a move; then check the network between the nodes.')]
}

async function viewAt(node: Node): Promise<{ name: string; owners: string; members: Member[] } | null> {
  try {
    const members = membersOf(String(await node.link.call('CLUSTER', 'NODES')), node.place)
    const owners = members
      .filter(({ slots }) => slots.length > 0)
      .map(({ id, slots }) => `${id} ${JSON.stringify(slots)}`)
      .toSorted()
      .join('\n')
    return { name: node.name, owners, members }
  } catch (error) {
    if (isReply(error)) return null
    throw error
  }
}

/** Each node tells of its own open slots only. */
async function membersAtAll(server: Server): Promise<Member[]> {
  const views = await Promise.all(server.primaries.map((node) => viewAt(node)))
  return views.flatMap((view) => view?.members ?? [])
}
