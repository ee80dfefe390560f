// A process that dies just before a script is sent, or just after it was carried out.

import type { Driver } from 'perilune'

export interface Death {
  readonly script: string
  /** Which of its calls. */
  readonly call: number
  readonly when: 'before' | 'after'
}

export function nameOf({ script, call, when }: Death): string {
  return `died ${when} call ${call} of ${script}`
}

export function dyingAt(death: Death | null, driver: Driver): Driver {
  if (death === null) return driver
  let calls = 0
  const run: Driver['run'] = async (call) => {
    if (call.script.name !== death.script) return driver.run(call)
    if (death.when === 'before' && ++calls === death.call) die()
    // One that is refused, as where the server does not know the script yet, was not carried out.
    const answer = await driver.run(call)
    if (death.when === 'after' && ++calls === death.call) die()
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
