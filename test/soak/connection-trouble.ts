// Faults between the processes of a soak and a single server.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Proxy } from '../servers/proxy.ts'
import type { Scene, Trouble } from './feed-soak.ts'

/** Cuts replies after their calls were carried out, drops requests, resets and delays connections. */
export async function troubleConnections(proxies: readonly Proxy[], scene: Scene): Promise<Trouble> {
  const { random, over } = scene
  const happened = { 'replies cut': 0, 'requests dropped': 0, resets: 0, delays: 0, 'consumers killed': 0 }
  const troubles: ((proxy: Proxy) => void)[] = [
    (proxy) => {
      proxy.cutReplies(1, /eval/i)
      happened['replies cut'] += 1
    },
    (proxy) => {
      proxy.dropRequests(1, /eval/i)
      happened['requests dropped'] += 1
    },
    (proxy) => {
      proxy.resetAll()
      happened.resets += 1
    },
    (proxy) => {
      proxy.delay(random() < 0.5 ? 0 : random() * 20)
      happened.delays += 1
    },
  ]
  for (let round = 0; !over.aborted; round++) {
    const proxy = proxies[Math.floor(random() * proxies.length)]
    if (proxy !== undefined) troubles[round % troubles.length]?.(proxy)
    if (round % 40 === 20) {
      happened['consumers killed'] += await scene.replaceConsumers()
    }
    await sleep(random() * 80)
  }
  for (const proxy of proxies) proxy.delay(0)
  return { windows: [], happened }
}

/** Cuts the reply to a call like this now and then, until it is stopped. */
export function cutReplies(proxy: Proxy, matching: RegExp): () => void {
  const cutting = setInterval(() => proxy.cutReplies(1, matching), 250)
  return () => clearInterval(cutting)
}
