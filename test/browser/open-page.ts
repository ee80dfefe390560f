// A page in a real browser: the Chromium of the system, headless, with a profile of its own.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { findExecutable } from '../../server/engine/executable.ts'

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']
// The browser may contact only the service under test.
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
]
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface Opened {
  readonly page: Page
  /** Errors that the page threw or wrote to its console. */
  readonly errors: string[]
}

/** Closed when the test is over. */
export async function openPage(url: string, scheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  const profile = mkdtempSync(join(tmpdir(), 'perilune-chromium-'))
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: findBrowser(),
    headless: true,
    args: QUIET,
    colorScheme: scheme,
  })
  onTestFinished(async () => {
    await browser.close()
    rmSync(profile, { recursive: true, force: true })
  })
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(url)
  return { page, errors }
}

/** Accessibility faults by the rules of axe. */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found: Violation[] = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return found.flatMap(({ help, nodes }) => nodes.map(({ html }) => `${help}: ${html}`))
}

interface Violation {
  readonly help: string
  readonly nodes: readonly { readonly html: string }[]
}

function findBrowser(): string {
  const found = findExecutable(BROWSERS, process.env['PATH'])
  if (found === undefined) throw new Error(`there is no ${BROWSERS.join(', ')} on PATH`)
  return found
}
