// What all checks look at: the nodes behind an address, and what the user asked for.

import type { Contract, ContractOperation } from '../../src/testing/vector-contract.ts'
import type { Address, Place, Topology } from './address.ts'
import { type Access, Link } from './link.ts'
import type { Node, Role } from './node.ts'

export interface DoctorOptions {
  readonly address: Address
  readonly access: Access
  /** For the Sentinels, whose users are others. */
  readonly sentinelAccess: Access
  readonly namespace: string
  readonly structures: readonly string[]
  /** How many keys a scan may see. */
  readonly scan: number
  readonly contract: DoctorContract
}

/** The part of lua/contract.json that the doctor reads. */
export interface DoctorContract extends Contract {
  readonly version: string
  readonly structures: Readonly<
    Record<string, { readonly since: string; readonly commands: readonly string[]; readonly acl: string }>
  >
  readonly operations: Readonly<Record<string, ContractOperation>>
}

/** A server that was not reached. */
export interface Unreached {
  readonly place: Place
  readonly role: Role
  readonly error: unknown
}

/** What one Sentinel says. */
export interface SentinelView {
  readonly place: Place
  /** Null: it does not know the name. */
  readonly primary: Place | null
  /** Its answer to CKQUORUM, or the error. */
  readonly quorum: string
}

/** A node as the cluster describes it. */
export interface Member {
  readonly id: string
  readonly place: Place
  readonly role: Role
  /** The id of its primary; null for a primary. */
  readonly primary: string | null
  /** `fail`, `pfail`, `noaddr`, `handshake`. */
  readonly troubles: readonly string[]
  readonly connected: boolean
  readonly slots: readonly (readonly [number, number])[]
  /** Slots that are on the move, as the node itself says. */
  readonly open: readonly string[]
}

/** What was found behind an address. */
export interface Found {
  /** Null: nothing was reached. */
  readonly topology: Topology | null
  readonly nodes: readonly Node[]
  readonly unreached: readonly Unreached[]
  readonly sentinels: readonly SentinelView[]
  /** Empty without a cluster, or where the user may not ask for it. */
  readonly members: readonly Member[]
}

export class Server {
  readonly options: DoctorOptions
  readonly found: Found
  readonly #shared = new Map<string, Promise<unknown>>()

  constructor(options: DoctorOptions, found: Found) {
    this.options = options
    this.found = found
  }

  get nodes(): readonly Node[] {
    return this.found.nodes
  }

  get isCluster(): boolean {
    return this.found.topology === 'cluster'
  }

  get primaries(): readonly Node[] {
    return this.nodes.filter(({ role }) => role !== 'replica')
  }

  get replicas(): readonly Node[] {
    return this.nodes.filter(({ role }) => role === 'replica')
  }

  /** Where programs with this address send their commands: on a cluster all primaries, else the node of the URL. */
  get served(): readonly Node[] {
    return this.isCluster ? this.primaries : this.nodes.slice(0, 1)
  }

  /** A second connection to a node, for subscriptions. Close it. */
  open(node: Node): Promise<Link> {
    return Link.open(node.place, this.options.access)
  }

  /** Work whose result several checks use: it runs once. */
  once<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const known = (this.#shared.get(name) as Promise<Value> | undefined) ?? work()
    this.#shared.set(name, known)
    return known
  }

  close(): void {
    for (const { link } of this.nodes) link.close()
  }
}
