import type { JSX } from "preact";
import type { OverviewAnswer } from "../../../../core/api/history.ts";
import { describePart, totalOf } from "./stack.ts";

/** The numbers of the plot, the last first; those of parts in which nothing happened are left out. */
export function PartsTable({ overview: { parts, partMs } }: { readonly overview: OverviewAnswer }): JSX.Element {
  const shown = parts.filter((part) => totalOf(part) > 0).reverse();
  return (
    <details class="plot-table">
      <summary>The same as a table</summary>
      {shown.length === 0 ? (
        <p class="quiet">Nothing was decided in this time.</p>
      ) : (
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col" class="number">
                Allowed
              </th>
              <th scope="col" class="number">
                Held
              </th>
              <th scope="col" class="number">
                Blocked
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ at, allow, hold, block }) => (
              <tr key={at}>
                <th scope="row">{describePart(at, partMs)}</th>
                <td class="number">{allow.toLocaleString("en")}</td>
                <td class="number">{hold.toLocaleString("en")}</td>
                <td class="number">{block.toLocaleString("en")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
