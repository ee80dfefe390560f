// For a new one: a file next to this one, and a line here.

import { cluster } from './cluster.ts'
import { oneAddress } from './one-address.ts'
import { sentinel } from './sentinel.ts'
import { single } from './single.ts'
import type { Topology } from './topology.ts'

export const TOPOLOGIES: Readonly<Record<string, Topology>> = {
  single,
  'one-address': oneAddress,
  sentinel,
  cluster,
}
