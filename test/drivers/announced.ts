// Clusters whose nodes are reached through proxies.

import { ask, until } from '../servers/ask.ts'
import type { Proxy } from '../servers/proxy.ts'

/** All nodes report the addresses of the proxies. */
export async function announce(ports: readonly number[], proxies: readonly Proxy[]): Promise<void> {
  for (const [at, port] of ports.entries()) {
    await ask(port, 'CONFIG', 'SET', 'cluster-announce-port', proxies[at]?.port ?? 0)
  }
  await until('all nodes tell it', async () => {
    const views = await Promise.all(ports.map((port) => ask(port, 'CLUSTER', 'NODES')))
    return views.every((nodes) => proxies.every((each) => String(nodes).includes(`:${each.port}@`)))
  })
}
