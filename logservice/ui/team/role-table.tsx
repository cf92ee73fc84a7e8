import { ROLES } from "../../access/roles.ts";
import { ROLE_TABLE } from "./roles.ts";

/** What each role may do. */
export function RoleTable() {
  return (
    <section>
      <h2 id="roles">Roles</h2>
      <div class="table-wrap">
        <table class="list roles" aria-labelledby="roles">
          <thead>
            <tr>
              <th scope="col">May</th>
              {ROLES.map((role) => (
                <th scope="col" key={role}>
                  {role}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </div>
    </section>
  );
}
