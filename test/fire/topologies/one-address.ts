// One address in front of a primary and its replica. Connections that are open stay where they are at a switchover.

import { askFields, until } from '../../servers/ask.ts'
import { startOneAddress } from '../../servers/one-address.ts'
import type { Stage, Topology } from './topology.ts'

async function start(): Promise<Stage> {
  const pair = await startOneAddress()
  const { proxy } = pair
  return {
    way: { kind: 'single', ports: [proxy.port], name: '', faces: {} },
    proxies: [proxy],
    get servers() {
      return [pair.primary, pair.replica]
    },
    primaries: async () => [pair.primary],
    async switchover() {
      await pair.switchover()
      pair.follow()
    },
    whole: () =>
      until('the replica follows', async () => {
        const fields = await askFields(pair.replica.port, 'INFO', 'replication')
        return fields.get('master_link_status') === 'up'
      }),
    stop: () => pair.stop(),
  }
}

export const oneAddress: Topology = { replicated: true, start }
