import { ROLES } from "../../access/roles.ts";
import { Table } from "../kit/table.tsx";
import { ROLE_TABLE } from "./roles.ts";

/** The rights of each role. */
export function RoleTable() {
  return (
    <section>
      <h2 id="roles">Roles</h2>
      <Table class="roles" labelledBy="roles" columns={["May", ...ROLES]}>
        {ROLE_TABLE.map(({ text, roles }) => (
          <tr key={text}>
            <td>{text}</td>
            {ROLES.map((role) => (
              <td key={role}>
                {roles.includes(role) ? (
                  <>
                    <span aria-hidden="true">✓</span>
                    <span class="spoken">yes</span>
                  </>
                ) : (
                  <span class="spoken">no</span>
                )}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </section>
  );
}
