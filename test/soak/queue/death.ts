// A process that dies just before a script is sent, or just after it was carried out.

import type { Driver } from 'perilune'

export interface Death {
  readonly script: string
  /** Which of its calls. */
  readonly call: number
  readonly when: 'before' | 'after'
}

export function dyingAt(death: Death | null, driver: Driver): Driver {
  if (death === null) return driver
  let calls = 0
  const run: Driver['run'] = async (call) => {
    const isIt = call.script.name === death.script && ++calls === death.call
    if (isIt && death.when === 'before') die()
    const answer = await driver.run(call)
    if (isIt) die()
    return answer
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    runMany: (all: Parameters<Driver['runMany']>[0]) => all.map(run),
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
    load: (script: Parameters<Driver['load']>[0]) => driver.load(script),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
