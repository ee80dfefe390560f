// Faults around a queue: processes that are killed, or paused beyond their leases, and connections that break.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Proxy } from '../../servers/proxy.ts'
import type { RedisServer } from '../../servers/redis.ts'
import type { QueueVerdict } from './check-queue.ts'
import type { QueueScene } from './soak.ts'

type Happened = QueueVerdict['happened']

/** Kills processes with kill -9, and also pauses every third one, until so many were killed. */
export async function killAndPause(scene: QueueScene, kills: number): Promise<Happened> {
  const { random, leaseMs } = scene
  const pauses: Promise<void>[] = []
  for (let killed = 0; killed < kills; killed++) {
    await sleep(random() * 400)
    if (killed % 3 === 0) pauses.push((await scene.victim()).pauseFor(leaseMs + random() * 700))
    const victim = await scene.victim()
    await sleep(random() * 150)
    victim.kill()
    await victim.ended
  }
  await Promise.all(pauses)
  return { kills, pauses: pauses.length }
}

/** Breaks connections in every way, and kills a process now and then. */
export async function breakConnections(
  scene: QueueScene,
  proxies: readonly Proxy[],
  forMs: number,
): Promise<Happened> {
  const { random } = scene
  const happened = { 'replies cut': 0, 'requests dropped': 0, resets: 0, delays: 0, kills: 0 }
  const count = (what: keyof typeof happened): void => void (happened[what] += 1)
  await scene.victim()
  const endsAt = performance.now() + forMs
  for (let round = 1; performance.now() < endsAt; round++) {
    await sleep(random() * 60)
    const proxy = proxies[Math.floor(random() * proxies.length)]
    const kind = random()
    if (kind < 0.4) count('replies cut')
    else if (kind < 0.7) count('requests dropped')
    else if (kind < 0.85) count('resets')
    else count('delays')
    if (kind < 0.4) proxy?.cutReplies(1, /eval/i)
    else if (kind < 0.7) proxy?.dropRequests(1, /eval/i)
    else if (kind < 0.85) proxy?.resetAll()
    else proxy?.delay(random() < 0.5 ? 0 : random() * 20)
    if (round % 40 > 0) continue
    count('kills')
    ;(await scene.victim()).kill()
  }
  for (const proxy of proxies) proxy.delay(0)
  return happened
}

/** Until so many processes have died of themselves; one of them may never come to its moment. */
export async function awaitDeaths({ died }: QueueScene, deaths: number, forMs: number): Promise<Happened> {
  const endsAt = performance.now() + forMs
  while (died() < deaths && performance.now() < endsAt) await sleep(20)
  return { deaths }
}

/** Kills the server again and again, and a process each time. */
export async function restartServer(
  scene: QueueScene,
  server: RedisServer,
  restarts: number,
): Promise<Happened> {
  for (let restarted = 0; restarted < restarts; restarted++) {
    const victim = await scene.victim()
    await sleep(300 + scene.random() * 900)
    await server.kill()
    if (restarted % 2 === 1) victim.kill()
    await sleep(scene.random() * 300)
    await server.restart()
  }
  return { restarts }
}
